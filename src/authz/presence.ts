import type { Presence, Seen } from "../eventstore/presence.ts";
import { type Caller, editorOf } from "./context.ts";
import { familiesOf } from "./agent-families.ts";
import { addressOf } from "./source.ts";

/** What a request tells of where it comes from. Nothing of it is ever trusted: it is kept for people to read. */
export type Where = Seen;

/** @param peer the address that the connection or a configured proxy gives */
export const whereOf = (
  peer: string,
  headers: { get(name: string): string | undefined },
): Where => {
  const { browser, system } = familiesOf(headers);
  return { address: addressOf(peer), browser, system };
};

const mostActors = 10;

/**
 * Who is there with a call. Where somebody acts for the user it is they who are there: the address is theirs, and is never
 * shown to the user whom they act for.
 */
export function presenceOf(where: Where, caller: Caller): Presence {
  if (caller.kind === "system") return presenceAs(where, { personId: editorOf(caller) });
  const { userId, actorIds, authentication, familyId } = caller;
  const sessionId = authentication?.sessionId;
  return presenceAs(where, { personId: userId, sessionId, familyId, actorIds });
}

/** The same for whoever is served by a request. Of a longer chain of actors the last ten are kept. */
export function presenceAs(where: Where, who: Omit<Presence, keyof Where>): Presence {
  const actorIds = who.actorIds?.slice(0, mostActors);
  return {
    address: where.address,
    browser: where.browser,
    system: where.system,
    personId: actorIds?.[0] ?? who.personId,
    sessionId: who.sessionId,
    flowId: who.flowId,
    familyId: who.familyId,
    actorIds: actorIds?.length === 0 ? undefined : actorIds,
    isVisitor: who.isVisitor,
  };
}
