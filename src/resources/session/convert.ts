import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  FactorsSchema,
  GetSessionSchema,
  UserAgent,
  UserAgentSchema,
} from "#gen/idsvc/resources/session/v3alpha/session_pb.ts";
import { toInstanceOwnedDetails } from "../object/details.ts";
import type { UserNames } from "../user/index.ts";
import type { UserAgentSet } from "./events.ts";
import type { StoredUserAgent } from "./projection.ts";
import type { FoundSession, SessionRow } from "./queries.ts";
import type { Metadata } from "./session.ts";

const mapValues = <A, B>(values: Record<string, A>, make: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, make(value)]));

export const toMetadata = (values: Record<string, Uint8Array>): Metadata =>
  mapValues(values, (value) => Buffer.from(value).toString("base64"));

export const toUserAgentSet = ({
  header,
  fingerprintId,
  ip,
  description,
}: UserAgent): Omit<UserAgentSet, "userId"> => ({
  fingerprintId,
  ip,
  description,
  header: JSON.stringify(mapValues(header, ({ values }) => values)),
});

export function toGetSession(
  row: FoundSession,
  names: UserNames | undefined,
  lacks: readonly string[],
): MessageInitShape<typeof GetSessionSchema> {
  return {
    details: toInstanceOwnedDetails(row),
    creationDate: timestampFromDate(row.creationDate),
    creator: row.creatorId,
    factors: toFactors(row, names),
    lacks: [...lacks],
    metadata: mapValues(row.metadata, (value): Uint8Array => Buffer.from(value, "base64")),
    ...(row.expiresAt === null ? {} : { expirationDate: timestampFromDate(row.expiresAt) }),
    ...(row.userAgent === null ? {} : { userAgent: toUserAgent(row.fingerprintId, row.userAgent) }),
  };
}

function toFactors(
  row: SessionRow,
  names: UserNames | undefined,
): MessageInitShape<typeof FactorsSchema> {
  const { userId: id, organizationId, isUserVerified: userVerified } = row;
  const { loginName = "", displayName = "" } = names ?? {};
  const called = { id, organizationId, loginName, displayName };
  return {
    ...(row.userCheckedAt && { user: { ...called, ...at(row.userCheckedAt) } }),
    ...(row.passwordCheckedAt && { password: at(row.passwordCheckedAt) }),
    ...(row.webAuthNCheckedAt && { webAuthN: { userVerified, ...at(row.webAuthNCheckedAt) } }),
    ...(row.intentCheckedAt && { intent: { idpId: row.idpId, ...at(row.intentCheckedAt) } }),
    ...(row.totpCheckedAt && { totp: at(row.totpCheckedAt) }),
    ...(row.otpSmsCheckedAt && { otpSms: at(row.otpSmsCheckedAt) }),
    ...(row.otpEmailCheckedAt && { otpEmail: at(row.otpEmailCheckedAt) }),
    ...(row.emailCheckedAt && { email: at(row.emailCheckedAt) }),
    ...(row.recoveryCodeCheckedAt && { recoveryCode: at(row.recoveryCodeCheckedAt) }),
  };
}

const at = (date: Date) => ({ verifiedAt: timestampFromDate(date) });

function toUserAgent(
  fingerprintId: string,
  { ip, description, header }: StoredUserAgent,
): MessageInitShape<typeof UserAgentSchema> {
  const stored: Record<string, string[]> = header === "" ? {} : JSON.parse(header);
  return { fingerprintId, ip, description, header: mapValues(stored, (values) => ({ values })) };
}
