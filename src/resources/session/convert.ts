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

type Values = Record<string, string[]>;

export const toMetadata = (values: Record<string, Uint8Array>): Metadata =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, Buffer.from(value).toString("base64")]),
  );

export const toUserAgentSet = ({
  fingerprintId,
  ip,
  description,
  header,
}: UserAgent): Omit<UserAgentSet, "userId"> => {
  const values = Object.entries(header).map(([name, each]) => [name, each.values]);
  return { fingerprintId, ip, description, header: JSON.stringify(Object.fromEntries(values)) };
};

export function toGetSession(
  row: FoundSession,
  names: UserNames | undefined,
  lacks: readonly string[],
): MessageInitShape<typeof GetSessionSchema> {
  const metadata = Object.entries(row.metadata).map(([name, value]): [string, Uint8Array] => [
    name,
    Buffer.from(value, "base64"),
  ]);
  return {
    details: toInstanceOwnedDetails(row),
    creationDate: timestampFromDate(row.creationDate),
    creator: row.creatorId,
    factors: toFactors(row, names),
    lacks: [...lacks],
    metadata: Object.fromEntries(metadata),
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
  const stored: Values = header === "" ? {} : JSON.parse(header);
  const values = Object.entries(stored).map(([name, each]): [string, { values: string[] }] => [
    name,
    { values: each },
  ]);
  return { fingerprintId, ip, description, header: Object.fromEntries(values) };
}
