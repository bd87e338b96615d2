import { holdAlso, payload, release } from "../../../eventstore/event.ts";
import { clientIdClaim, holdClientId } from "../client-id.ts";

/** A credential of WebAuthn belongs to one user of the instance. */
export const credentialClaim = "webauthn.credential";

/** What is public of a passkey or a security key. Bytes are base64url. */
export type Credential = {
  webAuthNId: string;
  /** What the user calls it. */
  name: string;
  credentialId: string;
  publicKey: string;
  transports: string[];
  signCount: number;
  /** The domain that it counts for. */
  rpId: string;
  /** The model of the authenticator, where its browser said one. */
  aaguid?: string;
};

/** An account at an identity provider belongs to one user of the instance (C4). */
export const idpLinkClaim = "user.idp_link";

/** An account at a provider, by what the provider knows it by: letter by letter. */
export type IdpLink = { idpId: string; externalUserId: string };

export const idpLinkKey = ({ idpId, externalUserId }: IdpLink): string =>
  `${idpId}/${externalUserId}`;

const lostIdpLink = () =>
  payload<IdpLink>({
    personal: ["externalUserId"],
    claims: (link) => [release(idpLinkClaim, idpLinkKey(link))],
  });

const nothing = () => payload<Record<string, never>>();
const credential = () =>
  payload<Credential>({
    personal: ["name", "credentialId", "publicKey"],
    claims: ({ credentialId }) => [holdAlso(credentialClaim, credentialId)],
  });
const lostCredential = () =>
  payload<{ webAuthNId: string; credentialId: string }>({
    personal: ["credentialId"],
    claims: ({ credentialId }) => [release(credentialClaim, credentialId)],
  });
const renamed = () => payload<{ webAuthNId: string; name: string }>({ personal: ["name"] });
const webAuthN = () => payload<{ webAuthNId: string }>();
const totp = () => payload<{ totpId: string }>();
const sms = () => payload<{ otpSmsId: string }>();
const email = () => payload<{ otpEmailId: string }>();

/** What the names of the events of what is registered by WebAuthn begin with; of checks of it too. */
export const webAuthNEvents = (isPasskey: boolean) =>
  isPasskey ? "human.passwordless.token" : "human.mfa.u2f.token";

/** What happens to that which a user logs in with. Secrets, codes and hashes are never among it (C7). */
export const authenticatorPayloads = {
  "human.password.changed": payload<{ changeRequired: boolean }>(),
  "human.password.removed": nothing(),
  "human.password.code.added": nothing(),

  // Passkeys prove who uses them; the others are second factors.
  "human.passwordless.initialization.code.added": nothing(),
  "human.passwordless.token.added": credential(),
  "human.passwordless.token.verified": webAuthN(),
  /** A browser made it by itself; it counts from its first use on. */
  "human.passwordless.token.prepared": credential(),
  "human.passwordless.token.confirmed": webAuthN(),
  "human.passwordless.token.renamed": renamed(),
  "human.passwordless.token.removed": lostCredential(),
  "human.mfa.u2f.token.added": credential(),
  "human.mfa.u2f.token.verified": webAuthN(),
  "human.mfa.u2f.token.renamed": renamed(),
  "human.mfa.u2f.token.removed": lostCredential(),

  "human.mfa.otp.added": totp(),
  "human.mfa.otp.verified": totp(),
  "human.mfa.otp.removed": totp(),
  "human.mfa.otp.sms.added": payload<{ otpSmsId: string; number: string }>({
    personal: ["number"],
  }),
  "human.mfa.otp.sms.verified": sms(),
  "human.mfa.otp.sms.removed": sms(),
  "human.mfa.otp.sms.code.added": nothing(),
  "human.mfa.otp.email.added": payload<{ otpEmailId: string; address: string }>({
    personal: ["address"],
  }),
  "human.mfa.otp.email.verified": email(),
  "human.mfa.otp.email.removed": email(),
  "human.mfa.otp.email.code.added": nothing(),
  "human.mfa.recovery_codes.added": payload<{ count: number }>(),
  "human.mfa.recovery_codes.removed": nothing(),

  "human.externalidp.added": payload<IdpLink & { username: string }>({
    personal: ["externalUserId", "username"],
    claims: (link) => [holdAlso(idpLinkClaim, idpLinkKey(link))],
  }),
  /** Somebody who does not cover the user answers for the provider now: the link proves nothing. */
  "human.externalidp.suspended": payload<{ idpId: string }>(),
  "human.externalidp.confirmed": payload<{ idpId: string }>(),
  "human.externalidp.removed": lostIdpLink(),
  /** The provider was deleted. */
  "human.externalidp.cascade.removed": lostIdpLink(),

  "pat.added": payload<{ tokenId: string; expirationDate: string | undefined }>(),
  "pat.removed": payload<{ tokenId: string }>(),
  "machine.key.added": payload<{
    keyId: string;
    /** SPKI in PEM form. */
    publicKey: string;
    expirationDate: string | undefined;
  }>(),
  "machine.key.removed": payload<{ keyId: string }>(),
  "machine.secret.set": payload<{ clientId: string }>({
    claims: ({ clientId }) => [holdClientId(clientId)],
  }),
  "machine.secret.removed": payload<Record<string, never>>({
    claims: () => [release(clientIdClaim)],
  }),
};
