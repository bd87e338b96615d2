import type { UserDeps } from "./ports.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import { endAuthenticators } from "./authenticator/removal.ts";
import { inUnit } from "./change.ts";
import { addressOf, contactChanged } from "./contact.ts";
import { createCredentials } from "./credentials.ts";
import { userEvents } from "./events.ts";
import { holdId, holdMakers } from "./hold-makers.ts";
import { type User, user } from "./user.ts";
import type { UserRef } from "./user-ref.ts";

/** What logs a user in, or counts as their proof, and who made it. */
export type UserHold = { id: string; makerId: string; createdAt: Date; isKept: boolean };

/**
 * New power meets clean hands (J20): when a user comes to power, what others made on the account ends in the
 * same unit unless its maker covers that power. Factors, keys, tokens, links and passwords go, and with them all sessions
 * and codes; addresses that such a maker entered stay and must be proven anew, and so do links to providers for which such
 * a maker last said who answers. Sessions that somebody else made, such as a login client, end also where the user has
 * proven themselves in them. Tokens in the name of the user end too where such a maker could act as them (`holdMakers`)
 * or acts for them.
 *
 * A password set by others goes instead of only having to be changed: whoever knows it would be the one who changes it.
 */
export function cleanHands(deps: UserDeps) {
  const { events, intents } = deps;
  const credentials = createCredentials(deps);
  const { codes, challenges } = credentials;

  return async (
    tx: Transaction,
    at: UserRef,
    { isTrusted, keep }: { isTrusted(makerId: string): Promise<boolean>; keep: readonly string[] },
  ): Promise<UserHold[]> => {
    const { instanceId, userId } = at;
    const loaded = await tx.load(user, userId);
    if (loaded.state === undefined) return [];
    const one = inUnit(tx, loaded);
    const trusted = new Map<string, Promise<boolean>>();
    const trusts = (makerId: string): Promise<boolean> => {
      const known = trusted.get(makerId) ?? isTrusted(makerId);
      trusted.set(makerId, known);
      return known;
    };
    const history = await events.read({ instanceId, aggregate: { type: user.type, id: userId } });
    const { made, wasHeld } = await holdMakers(history, { userId, trusts, keep });
    const found: UserHold[] = [];
    for (const id of holdsOf(loaded.state)) {
      const maker = made.get(id);
      if (maker === undefined) continue;
      const { makerId, createdAt } = maker;
      const isKept = makerId === userId || keep.includes(id) || (await trusts(makerId));
      found.push({ id, makerId, createdAt, isKept });
    }
    const ended = new Set(found.filter(({ isKept }) => !isKept).map(({ id }) => id));
    // Codes are proofs that are under way: whoever asked for them may hold them.
    tx.write(codes.removeAll(at), challenges.removeAll(at));
    let isSuspended = false;
    for (const { kind, id: idpId } of loaded.state.authenticators) {
      if (kind !== "idp" || ended.has(`idp/${idpId}`) || keep.includes(`idp/${idpId}`)) continue;
      const answering = await intents.whoAnswersFor({ instanceId, idpId });
      if (answering === undefined || (await trusts(answering))) continue;
      one.record([userEvents["human.externalidp.suspended"]({ idpId })]);
      isSuspended = true;
    }
    const others = await sessionsOfOthers(deps, tx, at, { trusts, keep });
    found.push(...others);
    const ending = others.filter(({ isKept }) => !isKept);
    // What was issued to a machine stands on no session: it outlives the key that it was asked for by.
    const isMachine = loaded.state.schemaType === "machine";
    const isNamed = (isMachine && wasHeld) || (await isActedFor(deps, at, trusts));
    if (isMachine && (wasHeld || ended.size > 0)) await deps.tokensInName.endOfMachine(tx, at);
    // Sessions may stand on what ends.
    if (ended.size > 0 || isSuspended || isNamed || ending.length > mostSessions) {
      one.record([userEvents["sessions.ended"]({})]);
    } else {
      for (const { id } of ending) {
        await deps.sessionMakers.end(tx, { instanceId, sessionId: id.slice(sessionPrefix.length) });
      }
    }
    if (ended.size === 0) return found;
    const { state } = loaded;
    const lost = state.authenticators.filter((each) => ended.has(holdId(each)));
    endAuthenticators(credentials, one, lost);
    for (const kind of ["email", "phone"] as const) {
      const address = addressOf(state, kind);
      if (address !== undefined && ended.has(kind)) one.record([contactChanged(kind, address)]);
    }
    return found;
  };
}

/**
 * Whoever makes a session has its token, whatever the user has proven in it since: it would act with the new power at once.
 */
async function sessionsOfOthers(
  deps: UserDeps,
  tx: Transaction,
  at: UserRef,
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

/** Whether tokens in the name of the user are held by somebody who does not cover what the user comes to. */
async function isActedFor(
  deps: UserDeps,
  at: UserRef,
  trusts: (makerId: string) => Promise<boolean>,
): Promise<boolean> {
  for (const actorId of await deps.tokensInName.actors(at)) {
    if (!(await trusts(actorId))) return true;
  }
  return false;
}

/** Beyond so many all sessions of the user end, as one unit has no room for each. */
const mostSessions = 20;
const sessionPrefix = "session/";

const holdsOf = ({ authenticators, email, phone }: User): string[] => [
  ...authenticators.map(holdId),
  ...(email?.isVerified === true ? ["email"] : []),
  ...(phone?.isVerified === true ? ["phone"] : []),
];
