import type { Loaded, LoggedEvent } from "../../eventstore/eventstore.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { whoAnswersFor } from "../idp/index.ts";
import type { Authenticator } from "./authenticator/authenticators.ts";
import { createCredentials, type Credentials } from "./credentials.ts";
import { type UserEvent, userEvents } from "./events.ts";
import { machineSecretRef } from "./machine/secret.ts";
import { personalAccessTokenRef } from "./token/stored.ts";
import { type User, user } from "./user.ts";

/** What logs a user in, or counts as their proof, and who made it. */
export type UserHold = { id: string; makerId: string; createdAt: Date; isKept: boolean };

/**
 * New power meets clean hands (J20): when a user comes to power, what others made on the account ends in the
 * same unit unless its maker covers that power. Factors, keys, tokens, links and passwords go, and with them all sessions
 * and codes; addresses that such a maker entered stay and must be proven anew, and so do links to providers for which such
 * a maker last said who answers. Sessions that somebody else made, such as a login client, end also where the user has
 * proven themselves in them.
 *
 * A password set by others goes instead of only having to be changed: whoever knows it would be the one who changes it.
 */
export function cleanHands(deps: Deps) {
  const { events } = deps;
  const credentials = createCredentials(deps);
  const { codes, challenges } = credentials;

  /**
   * Whoever makes a session has its token, whatever the user has proven in it since: it would act with the new power at once.
   */
  async function sessionsOfOthers(
    tx: Transaction,
    at: { instanceId: string; userId: string },
    by: { trusts(makerId: string): Promise<boolean>; keep: readonly string[] },
  ): Promise<UserHold[]> {
    const others: UserHold[] = [];
    for (const { id: sessionId, ...made } of await deps.sessionMakers.ofUser(tx, at)) {
      if (made.makerId === at.userId) continue;
      const id = `${sessionPrefix}${sessionId}`;
      others.push({ ...made, id, isKept: by.keep.includes(id) || (await by.trusts(made.makerId)) });
    }
    return others;
  }

  return async (
    tx: Transaction,
    at: { instanceId: string; userId: string },
    { isTrusted, keep }: { isTrusted(makerId: string): Promise<boolean>; keep: readonly string[] },
  ): Promise<UserHold[]> => {
    const { instanceId, userId } = at;
    const loaded = await tx.load(user, userId);
    if (loaded.state === undefined) return [];
    const made = makersOf(
      await events.read({ instanceId, aggregate: { type: user.type, id: userId } }),
    );
    const trusted = new Map<string, Promise<boolean>>();
    const trusts = (makerId: string): Promise<boolean> => {
      const known = trusted.get(makerId) ?? isTrusted(makerId);
      trusted.set(makerId, known);
      return known;
    };
    const found: UserHold[] = [];
    for (const id of holdsOf(loaded.state)) {
      const maker = made.get(id);
      if (maker === undefined) continue;
      const { makerId, createdAt } = maker;
      const isKept = makerId === userId || keep.includes(id) || (await trusts(makerId));
      found.push({ ...{ id, makerId, createdAt }, isKept });
    }
    const ended = new Set(found.filter(({ isKept }) => !isKept).map(({ id }) => id));
    // Codes are proofs that are under way: whoever asked for them may hold them.
    tx.write(codes.removeAll(at), challenges.removeAll(at));
    let isSuspended = false;
    for (const { kind, id: idpId } of loaded.state.authenticators) {
      if (kind !== "idp" || ended.has(`idp/${idpId}`) || keep.includes(`idp/${idpId}`)) continue;
      const answering = await whoAnswersFor(events, { instanceId, idpId });
      if (answering === undefined || (await trusts(answering))) continue;
      tx.record(user, loaded, [userEvents["human.externalidp.suspended"]({ idpId })]);
      isSuspended = true;
    }
    const others = await sessionsOfOthers(tx, at, { trusts, keep });
    found.push(...others);
    const ending = others.filter(({ isKept }) => !isKept);
    // Sessions may stand on what ends.
    if (ended.size > 0 || isSuspended || ending.length > mostSessions) {
      tx.record(user, loaded, [userEvents["sessions.ended"]({})]);
    } else {
      for (const { id } of ending) {
        await deps.sessionMakers.end(tx, { instanceId, sessionId: id.slice(sessionPrefix.length) });
      }
    }
    if (ended.size === 0) return found;
    const { authenticators, email, phone } = loaded.state;
    const lost = authenticators.filter((each) => ended.has(holdId(each)));
    endAuthenticators(credentials, tx, loaded, { instanceId, ending: lost });
    if (email !== undefined && ended.has("email")) {
      tx.record(user, loaded, [userEvents["human.email.changed"]({ address: email.address })]);
    }
    if (phone !== undefined && ended.has("phone")) {
      tx.record(user, loaded, [userEvents["human.phone.changed"]({ number: phone.number })]);
    }
    return found;
  };
}

/** Beyond so many all sessions of the user end, as one unit has no room for each. */
const mostSessions = 20;
const sessionPrefix = "session/";

/** Ends these of a user, with what is kept of each. */
export function endAuthenticators(
  { deps: { secrets }, passwords, totps, recoveryCodes }: Credentials,
  tx: Transaction,
  loaded: Loaded<User | undefined>,
  { instanceId, ending }: { instanceId: string; ending: readonly Authenticator[] },
): void {
  const at = { instanceId, userId: loaded.id };
  for (const one of ending) {
    tx.record(user, loaded, [endOf(one)]);
    if (one.kind === "password") tx.write(passwords.remove(at));
    if (one.kind === "totp") tx.write(totps.remove(at, one.id));
    if (one.kind === "recovery_codes") tx.write(recoveryCodes.remove(at));
    if (one.kind === "pat") tx.write(secrets.remove(personalAccessTokenRef(at, one.id)));
    if (one.kind === "secret") tx.write(secrets.remove(machineSecretRef(at)));
  }
}

const single: ReadonlySet<string> = new Set(["password", "recovery_codes", "secret"]);

const holdId = ({ kind, id }: Pick<Authenticator, "kind" | "id">): string =>
  single.has(kind) ? kind : `${kind}/${id}`;

const holdsOf = ({ authenticators, email, phone }: User): string[] => [
  ...authenticators.map(holdId),
  ...(email?.isVerified === true ? ["email"] : []),
  ...(phone?.isVerified === true ? ["phone"] : []),
];

type Made = { makerId: string; createdAt: Date };

/** Who made each hold last, by the user's own history. */
function makersOf(history: readonly LoggedEvent[]): ReadonlyMap<string, Made> {
  const makers = new Map<string, Made>();
  for (const { editorId: makerId, createdAt, ...event } of history) {
    // The stream of a user holds only events of users.
    const id = madeBy(event as unknown as UserEvent);
    if (id !== undefined) makers.set(id, { makerId, createdAt });
  }
  return makers;
}

function madeBy(event: UserEvent): string | undefined {
  switch (event.type) {
    case "user.human.added":
    case "user.human.email.changed":
      return "email";
    case "user.human.phone.changed":
      return "phone";
    case "user.human.password.changed":
      return "password";
    case "user.human.passwordless.token.added":
    case "user.human.mfa.u2f.token.added":
      return `web_authn/${event.payload.webAuthNId}`;
    case "user.human.mfa.otp.added":
      return `totp/${event.payload.totpId}`;
    case "user.human.mfa.otp.sms.added":
      return `otp_sms/${event.payload.otpSmsId}`;
    case "user.human.mfa.otp.email.added":
      return `otp_email/${event.payload.otpEmailId}`;
    case "user.human.mfa.recovery_codes.added":
      return "recovery_codes";
    case "user.human.externalidp.added":
      return `idp/${event.payload.idpId}`;
    case "user.pat.added":
      return `pat/${event.payload.tokenId}`;
    case "user.machine.key.added":
      return `key/${event.payload.keyId}`;
    case "user.machine.secret.set":
      return "secret";
    default:
      return undefined;
  }
}

function endOf({ kind, id, address, isPasskey }: Authenticator): UserEvent {
  switch (kind) {
    case "password":
      return userEvents["human.password.removed"]({});
    case "web_authn": {
      const lost = { webAuthNId: id, credentialId: address };
      return isPasskey
        ? userEvents["human.passwordless.token.removed"](lost)
        : userEvents["human.mfa.u2f.token.removed"](lost);
    }
    case "totp":
      return userEvents["human.mfa.otp.removed"]({ totpId: id });
    case "otp_sms":
      return userEvents["human.mfa.otp.sms.removed"]({ otpSmsId: id });
    case "otp_email":
      return userEvents["human.mfa.otp.email.removed"]({ otpEmailId: id });
    case "recovery_codes":
      return userEvents["human.mfa.recovery_codes.removed"]({});
    case "idp":
      return userEvents["human.externalidp.removed"]({ idpId: id, externalUserId: address });
    case "pat":
      return userEvents["pat.removed"]({ tokenId: id });
    case "key":
      return userEvents["machine.key.removed"]({ keyId: id });
    case "secret":
      return userEvents["machine.secret.removed"]({});
  }
}
