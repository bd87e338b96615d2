import type { Seen } from "../eventstore/presence.ts";
import { objectHistory } from "../resources/event/index.ts";
import { session } from "../resources/session/index.ts";
import type { AccountParts, Own } from "./own.ts";

const firstEvents = { offset: 0n, limit: 5, asc: true, after: "", skipTotal: true };

/**
 * Where the person was when their sessions began, by the id of the session: address and browser are shown to whoever was there
 * alone (L4).
 */
export function whereSessionsBegan({
  deps,
}: AccountParts): (own: Own, sessionIds: readonly string[]) => Promise<Map<string, Seen>> {
  const history = objectHistory(deps);
  return async ({ context, user }, sessionIds) => {
    const { instanceId } = context.at;
    const began = await Promise.all(
      sessionIds.map(async (id) => {
        const { rows } = await history({ instanceId, types: [session.type], id }, firstEvents);
        return [id, rows.flatMap(({ originId }) => originId ?? [])] as const;
      }),
    );
    const ids = [...new Set(began.flatMap(([, origins]) => origins))];
    const origins = await deps.events.origins.read(instanceId, ids, deps.now());
    return new Map(
      began.flatMap(([id, of]) => {
        const own = of.map((each) => origins.get(each)).find((each) => each?.personId === user.id);
        return own?.seen === undefined ? [] : [[id, own.seen] as const];
      }),
    );
  };
}
