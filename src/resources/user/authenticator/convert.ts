import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  AuthenticatorsSchema,
  IDPLinkSchema,
  WebAuthNSchema,
} from "#gen/idsvc/resources/user/v3alpha/authenticator_pb.ts";
import type { AuthenticatorKind } from "./authenticators.ts";
import type { AuthenticatorRow } from "./queries.ts";

/** When one of the credentials was used last. */
export type LastUse = (of: Pick<AuthenticatorRow, "userId" | "kind" | "id">) => Date | undefined;

const dateOf = (date: Date | null | undefined) => (date ? timestampFromDate(date) : undefined);

const made = (row: AuthenticatorRow, lastUse: LastUse) => ({
  creationDate: timestampFromDate(row.creationDate),
  creatorId: row.creatorId,
  lastUseDate: dateOf(lastUse(row)),
});

const expiring = (row: AuthenticatorRow, lastUse: LastUse) => ({
  ...made(row, lastUse),
  expirationDate: dateOf(row.expiresAt),
});

function toWebAuthN(
  row: AuthenticatorRow,
  lastUse: LastUse,
): MessageInitShape<typeof WebAuthNSchema> {
  const { id: webAuthNId, label: name, isVerified, isMarked: userVerified, details } = row;
  const { creationDate, lastUseDate } = made(row, lastUse);
  const aaguid = typeof details["aaguid"] === "string" ? details["aaguid"] : undefined;
  return { webAuthNId, name, isVerified, userVerified, creationDate, lastUseDate, aaguid };
}

/** An account at a provider, as the API tells of it. */
export const toIdpLink = ({
  id: idpId,
  label: username,
  lookup,
  isVerified,
  creationDate,
}: AuthenticatorRow): MessageInitShape<typeof IDPLinkSchema> => ({
  idpId,
  username,
  suspended: !isVerified,
  userId: lookup.slice(idpId.length + 1),
  creationDate: timestampFromDate(creationDate),
});

/** What a user logs in with, as the API tells of it. */
export function toAuthenticators(
  rows: readonly AuthenticatorRow[],
  lastUse: LastUse,
): MessageInitShape<typeof AuthenticatorsSchema> {
  const of = (kind: AuthenticatorKind) => rows.filter((row) => row.kind === kind);
  const [password] = of("password");
  const [recoveryCodes] = of("recovery_codes");
  const [secret] = of("secret");
  return {
    ...(password && {
      password: {
        lastChanged: timestampFromDate(password.changeDate),
        changeRequired: password.isMarked,
      },
    }),
    webAuthN: of("web_authn").map((row) => toWebAuthN(row, lastUse)),
    totps: of("totp").map(({ id: totpId, isVerified }) => ({ totpId, isVerified })),
    otpSms: of("otp_sms").map(({ id: otpSmsId, label: phone, isVerified }) => ({
      otpSmsId,
      phone,
      isVerified,
    })),
    otpEmail: of("otp_email").map(({ id: otpEmailId, label: address, isVerified }) => ({
      otpEmailId,
      address,
      isVerified,
    })),
    publicKeys: of("key").map((row) => ({ keyId: row.id, ...expiring(row, lastUse) })),
    personalAccessTokens: of("pat").map((row) => ({ tokenId: row.id, ...expiring(row, lastUse) })),
    identityProviders: of("idp").map(toIdpLink),
    ...(recoveryCodes && { recoveryCodes: { remaining: recoveryCodes.number } }),
    ...(secret && { secret: { clientId: secret.lookup, ...made(secret, lastUse) } }),
  };
}
