import type { JsonObject } from "@bufbuild/protobuf";
import type { AuthenticatorEvent } from "../events.ts";
import { type Authenticator, type AuthenticatorKind, onlyOne } from "./authenticators.ts";
import { type Credential, type IdpLink, idpLinkKey } from "./events.ts";

/** What a row holds beside what the fold of the user knows; see `userAuthenticators`. */
export type MoreColumns = Partial<{
  isMarked: boolean;
  label: string;
  lookup: string;
  number: number;
  details: JsonObject;
}>;

/** What an event does to one of the authenticators of a user: in the fold of the user, and in the rows. */
export type Effect<P> = {
  kind: AuthenticatorKind;
  id: (payload: P) => string;
} & (
  | { does: "add"; is: (payload: P) => Partial<Authenticator>; row: (payload: P) => MoreColumns }
  | { does: "verify"; isVerified: boolean }
  | { does: "rename"; label: (payload: P) => string }
  | { does: "remove" }
);

/** The events of authenticators of one kind, of which the payload names one by its id. */
function of<P>(kind: AuthenticatorKind, id: (payload: P) => string) {
  const added = <Q extends P>(
    is: (payload: Q) => Partial<Authenticator> = () => ({}),
    row: (payload: Q) => MoreColumns = () => ({}),
  ): Effect<Q> => ({ kind, id, does: "add", is, row });
  const verified: Effect<P> = { kind, id, does: "verify", isVerified: true };
  const suspended: Effect<P> = { kind, id, does: "verify", isVerified: false };
  const removed: Effect<P> = { kind, id, does: "remove" };
  return { added, verified, suspended, removed };
}

const there = () => ({ isVerified: true });
type Lasting = { expirationDate: string | undefined };
const lasting = ({ expirationDate }: Lasting) => ({
  isVerified: true,
  ...(expirationDate === undefined ? {} : { expirationDate }),
});

const password = of("password", () => onlyOne);
const webAuthN = of("web_authn", ({ webAuthNId }: { webAuthNId: string }) => webAuthNId);
const renamed: Effect<{ webAuthNId: string; name: string }> = {
  kind: "web_authn",
  does: "rename",
  id: ({ webAuthNId }) => webAuthNId,
  label: ({ name }) => name,
};
const totp = of("totp", ({ totpId }: { totpId: string }) => totpId);
const sms = of("otp_sms", ({ otpSmsId }: { otpSmsId: string }) => otpSmsId);
const email = of("otp_email", ({ otpEmailId }: { otpEmailId: string }) => otpEmailId);
const codes = of("recovery_codes", () => onlyOne);
const idp = of("idp", ({ idpId }: { idpId: string }) => idpId);
const pat = of("pat", ({ tokenId }: { tokenId: string }) => tokenId);
const key = of("key", ({ keyId }: { keyId: string }) => keyId);
const secret = of("secret", () => onlyOne);

const credential = (isPasskey: boolean) =>
  webAuthN.added<Credential>(
    ({ credentialId }) => ({ address: credentialId, isPasskey }),
    ({ name, credentialId, signCount, publicKey, transports, rpId, aaguid }) => ({
      isMarked: isPasskey,
      label: name,
      lookup: credentialId,
      number: signCount,
      details: { publicKey, transports, rpId, ...(aaguid === undefined ? {} : { aaguid }) },
    }),
  );

type Effects = {
  readonly [E in AuthenticatorEvent as E["type"]]: Effect<E["payload"]> | undefined;
};

/** What each event of an authenticator does. */
export const effects: Effects = {
  "user.human.password.changed": password.added(there, ({ changeRequired: isMarked }) => ({
    isMarked,
  })),
  "user.human.password.removed": password.removed,
  "user.human.password.code.added": undefined,
  "user.human.passwordless.initialization.code.added": undefined,
  "user.human.passwordless.token.added": credential(true),
  "user.human.passwordless.token.verified": webAuthN.verified,
  "user.human.passwordless.token.prepared": credential(true),
  "user.human.passwordless.token.confirmed": webAuthN.verified,
  "user.human.passwordless.token.renamed": renamed,
  "user.human.passwordless.token.removed": webAuthN.removed,
  "user.human.mfa.u2f.token.added": credential(false),
  "user.human.mfa.u2f.token.verified": webAuthN.verified,
  "user.human.mfa.u2f.token.renamed": renamed,
  "user.human.mfa.u2f.token.removed": webAuthN.removed,
  "user.human.mfa.otp.added": totp.added(),
  "user.human.mfa.otp.verified": totp.verified,
  "user.human.mfa.otp.removed": totp.removed,
  "user.human.mfa.otp.sms.added": sms.added(
    ({ number: address }) => ({ address }),
    ({ number: label }) => ({ label }),
  ),
  "user.human.mfa.otp.sms.verified": sms.verified,
  "user.human.mfa.otp.sms.removed": sms.removed,
  "user.human.mfa.otp.sms.code.added": undefined,
  "user.human.mfa.otp.email.added": email.added(
    ({ address }) => ({ address }),
    ({ address: label }) => ({ label }),
  ),
  "user.human.mfa.otp.email.verified": email.verified,
  "user.human.mfa.otp.email.removed": email.removed,
  "user.human.mfa.otp.email.code.added": undefined,
  "user.human.mfa.recovery_codes.added": codes.added(there, ({ count: number }) => ({ number })),
  "user.human.mfa.recovery_codes.removed": codes.removed,
  "user.human.externalidp.added": idp.added<IdpLink & { username: string }>(
    ({ externalUserId: address }) => ({ isVerified: true, address }),
    (link) => ({ label: link.username, lookup: idpLinkKey(link) }),
  ),
  "user.human.externalidp.suspended": idp.suspended,
  "user.human.externalidp.confirmed": idp.verified,
  "user.human.externalidp.removed": idp.removed,
  "user.human.externalidp.cascade.removed": idp.removed,
  "user.pat.added": pat.added<{ tokenId: string } & Lasting>(lasting),
  "user.pat.removed": pat.removed,
  "user.machine.key.added": key.added<{ keyId: string; publicKey: string } & Lasting>(
    lasting,
    ({ keyId: lookup, publicKey }) => ({ lookup, details: { publicKey } }),
  ),
  "user.machine.key.removed": key.removed,
  "user.machine.secret.set": secret.added(
    ({ clientId: address }) => ({ isVerified: true, address }),
    ({ clientId: lookup }) => ({ lookup }),
  ),
  "user.machine.secret.removed": secret.removed,
};

/** What an event does; each is paired with the effect of its name. */
export const effectOf = ({ type }: AuthenticatorEvent) =>
  effects[type] as Effect<unknown> | undefined;

/** What a user logs in with after an event. */
export function foldAuthenticators(
  before: readonly Authenticator[],
  event: AuthenticatorEvent,
): readonly Authenticator[] {
  const { payload } = event;
  const effect = effectOf(event);
  // What it is called is no part of what a user logs in with.
  if (effect === undefined || effect.does === "rename") return before;
  const { kind } = effect;
  const id = effect.id(payload);
  const isIt = (one: Authenticator) => one.kind === kind && one.id === id;
  if (effect.does === "verify") {
    const { isVerified } = effect;
    return before.map((one) => (isIt(one) ? { ...one, isVerified } : one));
  }
  const others = before.filter((one) => !isIt(one));
  if (effect.does === "remove") return others;
  const nothing = { isVerified: false, address: "", isPasskey: false };
  return [...others, { kind, id, ...nothing, ...effect.is(payload) }];
}
