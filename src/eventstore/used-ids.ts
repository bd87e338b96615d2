import type { Database, Expectation } from "../storage/database.ts";
import { and, eq, inArray } from "../storage/drizzle.ts";
import { events } from "../storage/kernel-tables.ts";

/** Which ids objects have or had, as one unit asks for them: each is read once, and expected to stay as it was. */
export function createUsedIds(db: Database, instanceId: string) {
  const t = db.table(events);
  const isUsed = new Map<string, boolean>();
  const free = new Map<string, Expectation>();

  return {
    async used(types: readonly string[], ids: readonly string[]): Promise<string[]> {
      const key = (type: string, id: string) => `${type}/${id}`;
      const unread = ids.filter((id) => types.some((type) => !isUsed.has(key(type, id))));
      if (unread.length > 0) {
        const rows = await db.read
          .select({ type: t.aggregateType, id: t.aggregateId })
          .from(t)
          .where(
            and(
              eq(t.instanceId, instanceId),
              inArray(t.aggregateType, [...types]),
              inArray(t.aggregateId, unread),
              eq(t.aggregateVersion, 1n),
            ),
          );
        const found = new Set(rows.map(({ type, id }) => key(type, id)));
        for (const type of types) {
          for (const id of unread) isUsed.set(key(type, id), found.has(key(type, id)));
        }
      }
      for (const aggregateType of types) {
        for (const aggregateId of ids) {
          const name = key(aggregateType, aggregateId);
          if (isUsed.get(name) === true) continue;
          free.set(name, { kind: "stream", aggregateType, aggregateId, version: 0n });
        }
      }
      return ids.filter((id) => types.some((type) => isUsed.get(key(type, id)) === true));
    },
    /** What must still be so when the unit commits, by the streams. */
    expected: (): Iterable<[string, Expectation]> => free,
  };
}
