import type { Database, Expectation } from "../storage/database.ts";
import { and, eq, inArray } from "../storage/drizzle.ts";
import { events } from "../storage/kernel-tables.ts";

const key = (type: string, id: string) => `${type}/${id}`;

/** Which ids objects have or had, as one unit asks for them: each is read once, and expected to stay as it was. */
export function createUsedIds(db: Database, instanceId: string) {
  const t = db.table(events);
  const isUsed = new Map<string, boolean>();
  const free = new Map<string, Expectation>();

  return {
    /** @param recorded the streams that the unit writes */
    async among(
      types: readonly string[],
      ids: readonly string[],
      recorded: ReadonlyMap<string, unknown>,
    ): Promise<ReadonlySet<string>> {
      const unread = ids.filter((id) => types.some((type) => !isUsed.has(key(type, id))));
      if (unread.length > 0) {
        const rows = await db.read
          .select({ type: t.aggregateType, id: t.aggregateId })
          .from(t)
          .where(
            and(
              eq(t.instanceId, instanceId),
              inArray(t.aggregateType, [...types]),
              db.isAmong(t.aggregateId, unread),
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
      const has = (name: string) => isUsed.get(name) === true || recorded.has(name);
      return new Set(ids.filter((id) => types.some((type) => has(key(type, id)))));
    },
    /** What must still be so when the unit commits, of streams that are not looked after already. */
    expected: (isKept: (name: string) => boolean): Expectation[] =>
      [...free].filter(([name]) => !isKept(name)).map(([, expected]) => expected),
  };
}
