import type { JsonObject } from "@bufbuild/protobuf";
import type { Recorded } from "../../../eventstore/event.ts";
import { on, projection, touch } from "../../../projection/projection.ts";
import { deleteRows, putRow, type RowChange, updateRows } from "../../../storage/row-change.ts";
import {
  bool,
  instant,
  int,
  int64,
  json,
  optionalInstant,
  table,
  text,
} from "../../../storage/table.ts";
import { checkEvents } from "../check/events.ts";
import { userEvents } from "../events.ts";
import { type AuthenticatorKind, onlyOne } from "./authenticators.ts";
import { type Credential, idpLinkKey } from "./events.ts";

/** What users log in with, and what of it is no secret; see `Authenticator`. */
export const userAuthenticators = table(
  "user_authenticators",
  {
    instanceId: text(),
    userId: text(),
    kind: text(),
    id: text(),
    organizationId: text(),
    isVerified: bool(),
    /** Of a password: the user must choose another one. Of what is registered by WebAuthn: it is a passkey. */
    isMarked: bool(),
    /** What the user calls it, or where one-time passwords are sent to. */
    label: text(),
    /** What it is found by: the id of a credential, of a key or of a client. */
    lookup: text(),
    /** How often a credential has signed; how many recovery codes are left. */
    number: int(),
    details: json<JsonObject>(),
    /** Who added it. */
    creatorId: text(),
    expiresAt: optionalInstant(),
    sequence: int64(),
    creationDate: instant(),
    changeDate: instant(),
  },
  {
    key: ["instanceId", "userId", "kind", "id"],
    indexes: [
      { columns: ["instanceId", "kind", "lookup"] },
      { columns: ["instanceId", "kind", "id"] },
    ],
  },
);

type Columns = Partial<{
  isVerified: boolean;
  isMarked: boolean;
  label: string;
  lookup: string;
  number: number;
  details: JsonObject;
  expiresAt: Date;
}>;
type Kind = AuthenticatorKind;

const at = ({ instanceId, aggregateId }: Recorded, kind: Kind, id: string) => ({
  instanceId,
  userId: aggregateId,
  kind,
  id,
});

const add = (event: Recorded, kind: Kind, id: string, more: Columns = {}): RowChange[] => [
  putRow(userAuthenticators, {
    ...at(event, kind, id),
    organizationId: event.owner.id,
    isVerified: false,
    isMarked: false,
    label: "",
    lookup: "",
    number: 0,
    details: {},
    creatorId: event.editorId,
    ...touch(event),
    creationDate: event.createdAt,
    ...more,
  }),
];
const change = (event: Recorded, kind: Kind, id: string, columns: Columns): RowChange[] => [
  updateRows(userAuthenticators, at(event, kind, id), { ...columns, ...touch(event) }),
];
const verify = (event: Recorded, kind: Kind, id: string) =>
  change(event, kind, id, { isVerified: true });
const drop = (event: Recorded, kind: Kind, id: string): RowChange[] => [
  deleteRows(userAuthenticators, at(event, kind, id)),
];

const addCredential = (event: Recorded & { payload: Credential }, isPasskey: boolean) => {
  const { webAuthNId, name, credentialId, publicKey, transports, signCount, rpId } = event.payload;
  return add(event, "web_authn", webAuthNId, {
    isMarked: isPasskey,
    label: name,
    lookup: credentialId,
    number: signCount,
    details: { publicKey, transports, rpId },
  });
};
const expiry = (date: string | undefined) =>
  date === undefined ? {} : { expiresAt: new Date(date) };
const signed = (event: Recorded & { payload: { webAuthNId: string; signCount: number } }) =>
  change(event, "web_authn", event.payload.webAuthNId, { number: event.payload.signCount });

export const authenticatorProjection = projection(
  "user_authenticators",
  [userAuthenticators],
  on(userEvents, {
    "user.human.password.changed": (event) =>
      add(event, "password", onlyOne, { isVerified: true, isMarked: event.payload.changeRequired }),
    "user.human.password.removed": (event) => drop(event, "password", onlyOne),
    "user.human.passwordless.token.added": (event) => addCredential(event, true),
    "user.human.passwordless.token.verified": (event) =>
      verify(event, "web_authn", event.payload.webAuthNId),
    "user.human.passwordless.token.removed": (event) =>
      drop(event, "web_authn", event.payload.webAuthNId),
    "user.human.mfa.u2f.token.added": (event) => addCredential(event, false),
    "user.human.mfa.u2f.token.verified": (event) =>
      verify(event, "web_authn", event.payload.webAuthNId),
    "user.human.mfa.u2f.token.removed": (event) =>
      drop(event, "web_authn", event.payload.webAuthNId),
    "user.human.mfa.otp.added": (event) => add(event, "totp", event.payload.totpId),
    "user.human.mfa.otp.verified": (event) => verify(event, "totp", event.payload.totpId),
    "user.human.mfa.otp.removed": (event) => drop(event, "totp", event.payload.totpId),
    "user.human.mfa.otp.sms.added": (event) =>
      add(event, "otp_sms", event.payload.otpSmsId, { label: event.payload.number }),
    "user.human.mfa.otp.sms.verified": (event) => verify(event, "otp_sms", event.payload.otpSmsId),
    "user.human.mfa.otp.sms.removed": (event) => drop(event, "otp_sms", event.payload.otpSmsId),
    "user.human.mfa.otp.email.added": (event) =>
      add(event, "otp_email", event.payload.otpEmailId, { label: event.payload.address }),
    "user.human.mfa.otp.email.verified": (event) =>
      verify(event, "otp_email", event.payload.otpEmailId),
    "user.human.mfa.otp.email.removed": (event) =>
      drop(event, "otp_email", event.payload.otpEmailId),
    "user.human.mfa.recovery_codes.added": (event) =>
      add(event, "recovery_codes", onlyOne, { isVerified: true, number: event.payload.count }),
    "user.human.mfa.recovery_codes.removed": (event) => drop(event, "recovery_codes", onlyOne),
    "user.human.externalidp.added": (event) =>
      add(event, "idp", event.payload.idpId, {
        isVerified: true,
        label: event.payload.username,
        lookup: idpLinkKey(event.payload),
      }),
    "user.human.externalidp.suspended": (event) =>
      change(event, "idp", event.payload.idpId, { isVerified: false }),
    "user.human.externalidp.confirmed": (event) => verify(event, "idp", event.payload.idpId),
    "user.human.externalidp.removed": (event) => drop(event, "idp", event.payload.idpId),
    "user.human.externalidp.cascade.removed": (event) => drop(event, "idp", event.payload.idpId),
    "user.pat.added": (event) =>
      add(event, "pat", event.payload.tokenId, {
        isVerified: true,
        ...expiry(event.payload.expirationDate),
      }),
    "user.pat.removed": (event) => drop(event, "pat", event.payload.tokenId),
    "user.machine.key.added": (event) =>
      add(event, "key", event.payload.keyId, {
        isVerified: true,
        lookup: event.payload.keyId,
        details: { publicKey: event.payload.publicKey },
        ...expiry(event.payload.expirationDate),
      }),
    "user.machine.key.removed": (event) => drop(event, "key", event.payload.keyId),
    "user.machine.secret.set": (event) =>
      add(event, "secret", onlyOne, { isVerified: true, lookup: event.payload.clientId }),
    "user.machine.secret.removed": (event) => drop(event, "secret", onlyOne),
    "user.removed": ({ instanceId, aggregateId }) => [
      deleteRows(userAuthenticators, { instanceId, userId: aggregateId }),
    ],
  }),
  on(checkEvents, {
    "user.human.mfa.recovery_codes.check.succeeded": (event) =>
      change(event, "recovery_codes", onlyOne, { number: event.payload.remaining }),
    "user.human.passwordless.token.signcount.changed": signed,
    "user.human.mfa.u2f.token.signcount.changed": signed,
  }),
);
