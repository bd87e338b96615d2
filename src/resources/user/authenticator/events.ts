import { holdAlso, payload, release } from "../../../eventstore/event.ts";
import { clientIdClaim, holdClientId } from "../client-id.ts";
import type { CreatedCredential } from "../web-authn/ceremony.ts";
import { type Authenticator, onlyOne } from "./authenticators.ts";
import { type AuthenticatorFact, type Effect, factsOf } from "./effects.ts";

/** A credential of WebAuthn belongs to one user of the instance. */
export const credentialClaim = "webauthn.credential";

/** What is public of a passkey or a security key. */
export type Credential = Omit<CreatedCredential, "isUserVerified"> & {
  webAuthNId: string;
  /** What the user calls it. */
  name: string;
  /** The domain that it counts for. */
  rpId: string;
};

/** An account at an identity provider belongs to one user of the instance (C4). */
export const idpLinkClaim = "user.idp_link";

/** An account at a provider, by what the provider knows it by: letter by letter. */
export type IdpLink = { idpId: string; externalUserId: string };

export const idpLinkKey = ({ idpId, externalUserId }: IdpLink): string =>
  `${idpId}/${externalUserId}`;

const password = factsOf("password", () => onlyOne);
const webAuthN = factsOf("web_authn", ({ webAuthNId }: { webAuthNId: string }) => webAuthNId);
const totp = factsOf("totp", ({ totpId }: { totpId: string }) => totpId);
const sms = factsOf("otp_sms", ({ otpSmsId }: { otpSmsId: string }) => otpSmsId);
const email = factsOf("otp_email", ({ otpEmailId }: { otpEmailId: string }) => otpEmailId);
const codes = factsOf("recovery_codes", () => onlyOne);
const idp = factsOf("idp", ({ idpId }: { idpId: string }) => idpId);
const pat = factsOf("pat", ({ tokenId }: { tokenId: string }) => tokenId);
const key = factsOf("key", ({ keyId }: { keyId: string }) => keyId);
const secret = factsOf("secret", () => onlyOne);

type Nothing = Record<string, never>;
/** Something happened that changes nothing of what the user logs in with. */
const nothing = (): AuthenticatorFact<Nothing> => ({ ...payload<Nothing>(), effect: undefined });

const there = () => ({ isVerified: true });
type Lasting = { expirationDate: string | undefined };
const lasting = ({ expirationDate }: Lasting) => ({
  isVerified: true,
  ...(expirationDate === undefined ? {} : { expirationDate }),
});

const credential = (isPasskey: boolean) =>
  webAuthN.added<Credential>({
    personal: ["name", "credentialId", "publicKey"],
    claims: ({ credentialId }) => [holdAlso(credentialClaim, credentialId)],
    is: ({ credentialId }) => ({ address: credentialId, isPasskey }),
    row: ({ name, credentialId, signCount, publicKey, transports, rpId, aaguid }) => ({
      isMarked: isPasskey,
      label: name,
      lookup: credentialId,
      number: signCount,
      details: { publicKey, transports, rpId, ...(aaguid === undefined ? {} : { aaguid }) },
    }),
  });
const renamed = () =>
  webAuthN.renamed<{ webAuthNId: string; name: string }>(({ name }) => name, {
    personal: ["name"],
  });
const lostCredential = () =>
  webAuthN.removed<{ webAuthNId: string; credentialId: string }>({
    personal: ["credentialId"],
    claims: ({ credentialId }) => [release(credentialClaim, credentialId)],
  });
const lostIdpLink = () =>
  idp.removed<IdpLink>({
    personal: ["externalUserId"],
    claims: (link) => [release(idpLinkClaim, idpLinkKey(link))],
  });

/** What the names of the events of what is registered by WebAuthn begin with; of checks of it too. */
export const webAuthNEvents = (isPasskey: boolean) =>
  isPasskey ? "human.passwordless.token" : "human.mfa.u2f.token";

/** What happens to that which a user logs in with. Secrets, codes and hashes are never among it (C7). */
export const authenticatorPayloads = {
  "human.password.changed": password.added<{ changeRequired: boolean }>({
    is: there,
    row: ({ changeRequired: isMarked }) => ({ isMarked }),
  }),
  "human.password.removed": password.removed<Nothing>(),
  "human.password.code.added": nothing(),

  // Passkeys prove who uses them; the others are second factors.
  "human.passwordless.initialization.code.added": nothing(),
  "human.passwordless.token.added": credential(true),
  "human.passwordless.token.verified": webAuthN.verified(),
  /** A browser made it by itself; it counts from its first use on. */
  "human.passwordless.token.prepared": credential(true),
  "human.passwordless.token.confirmed": webAuthN.verified(),
  "human.passwordless.token.renamed": renamed(),
  "human.passwordless.token.removed": lostCredential(),
  "human.mfa.u2f.token.added": credential(false),
  "human.mfa.u2f.token.verified": webAuthN.verified(),
  "human.mfa.u2f.token.renamed": renamed(),
  "human.mfa.u2f.token.removed": lostCredential(),

  "human.mfa.otp.added": totp.added(),
  "human.mfa.otp.verified": totp.verified(),
  "human.mfa.otp.removed": totp.removed(),
  "human.mfa.otp.sms.added": sms.added<{ otpSmsId: string; number: string }>({
    personal: ["number"],
    is: ({ number: address }) => ({ address }),
    row: ({ number: label }) => ({ label }),
  }),
  "human.mfa.otp.sms.verified": sms.verified(),
  "human.mfa.otp.sms.removed": sms.removed(),
  "human.mfa.otp.sms.code.added": nothing(),
  "human.mfa.otp.email.added": email.added<{ otpEmailId: string; address: string }>({
    personal: ["address"],
    is: ({ address }) => ({ address }),
    row: ({ address: label }) => ({ label }),
  }),
  "human.mfa.otp.email.verified": email.verified(),
  "human.mfa.otp.email.removed": email.removed(),
  "human.mfa.otp.email.code.added": nothing(),
  "human.mfa.recovery_codes.added": codes.added<{ count: number }>({
    is: there,
    row: ({ count: number }) => ({ number }),
  }),
  "human.mfa.recovery_codes.removed": codes.removed<Nothing>(),

  "human.externalidp.added": idp.added<IdpLink & { username: string }>({
    personal: ["externalUserId", "username"],
    claims: (link) => [holdAlso(idpLinkClaim, idpLinkKey(link))],
    is: ({ externalUserId: address }) => ({ isVerified: true, address }),
    row: (link) => ({ label: link.username, lookup: idpLinkKey(link) }),
  }),
  /** Somebody who does not cover the user answers for the provider now: the link proves nothing. */
  "human.externalidp.suspended": idp.suspended(),
  "human.externalidp.confirmed": idp.verified(),
  "human.externalidp.removed": lostIdpLink(),
  /** The provider was deleted. */
  "human.externalidp.cascade.removed": lostIdpLink(),

  "pat.added": pat.added<{ tokenId: string } & Lasting>({ is: lasting }),
  "pat.removed": pat.removed(),
  /** The public key is SPKI in PEM form. */
  "machine.key.added": key.added<{ keyId: string; publicKey: string } & Lasting>({
    is: lasting,
    row: ({ keyId: lookup, publicKey }) => ({ lookup, details: { publicKey } }),
  }),
  "machine.key.removed": key.removed(),
  "machine.secret.set": secret.added<{ clientId: string }>({
    claims: ({ clientId }) => [holdClientId(clientId)],
    is: ({ clientId: address }) => ({ isVerified: true, address }),
    row: ({ clientId: lookup }) => ({ lookup }),
  }),
  "machine.secret.removed": secret.removed<Nothing>({ claims: () => [release(clientIdClaim)] }),
};

/** What an event of a user does to what they log in with; each is paired with the effect of its name. */
export const effectOf = ({ type }: { type: string }): Effect<unknown> | undefined =>
  effects.get(type);

const effects = new Map(
  Object.entries(authenticatorPayloads).map(([name, { effect }]) => [
    `user.${name}`,
    effect as Effect<unknown> | undefined,
  ]),
);

/** What a user logs in with after an event. */
export function afterEvent(
  before: readonly Authenticator[],
  event: { type: string; payload: unknown },
): readonly Authenticator[] {
  const effect = effectOf(event);
  // What it is called is no part of what a user logs in with.
  if (effect === undefined || effect.does === "rename") return before;
  const { kind } = effect;
  const id = effect.id(event.payload);
  const isIt = (one: Authenticator) => one.kind === kind && one.id === id;
  if (effect.does === "verify") {
    const { isVerified } = effect;
    return before.map((one) => (isIt(one) ? { ...one, isVerified } : one));
  }
  const others = before.filter((one) => !isIt(one));
  if (effect.does === "remove") return others;
  const nothingYet = { isVerified: false, address: "", isPasskey: false };
  return [...others, { kind, id, ...nothingYet, ...effect.is(event.payload) }];
}
