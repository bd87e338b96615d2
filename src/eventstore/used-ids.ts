import type { Database, Expectation } from "../storage/database.ts";
import { and, eq, inArray } from "../storage/drizzle.ts";
import { events } from "../storage/kernel-tables.ts";

const key = (type: string, id: string) => `${type}/${id}`;

/** Which ids objects have or had, as one unit asks for them: each is read once, and expected to stay as it was. */
export function createUsedIds(db: Database, instanceId: string) {
  const t = db.table(events);
  // Of each id, whether an object of the type has or had it, by type.
  const known = new Map<string, Map<string, boolean>>();
  // By type, the ids that no object of it had.
  const free = new Map<string, string[]>();

  async function read(types: readonly string[], ids: string[]): Promise<void> {
    const rows = await db.read
      .select({ type: t.aggregateType, id: t.aggregateId })
      .from(t)
      .where(
        and(
          eq(t.instanceId, instanceId),
          inArray(t.aggregateType, [...types]),
          db.isAmong(t.aggregateId, ids),
          eq(t.aggregateVersion, 1n),
        ),
      );
    const found = new Set(rows.map(({ type, id }) => key(type, id)));
    for (const type of types) if (!free.has(type)) free.set(type, []);
    for (const id of ids) {
      const of = known.get(id) ?? new Map<string, boolean>();
      known.set(id, of);
      for (const aggregateType of types) {
        const name = key(aggregateType, id);
        of.set(aggregateType, found.has(name));
        if (!found.has(name)) free.get(aggregateType)?.push(id);
      }
    }
  }

  return {
    /** @param isRecorded whether the unit writes a stream */
    async among(
      types: readonly string[],
      ids: readonly string[],
      isRecorded: (name: string) => boolean,
    ): Promise<ReadonlySet<string>> {
      const unread = ids.filter((id) => {
        const of = known.get(id);
        return of === undefined || types.some((type) => !of.has(type));
      });
      if (unread.length > 0) await read(types, unread);
      const used = new Set<string>();
      for (const id of ids) {
        const of = known.get(id);
        if (types.some((type) => of?.get(type) === true || isRecorded(key(type, id)))) used.add(id);
      }
      return used;
    },
    /** What must still be so when the unit commits, of streams that are not looked after already. */
    expected: (isKept: (name: string) => boolean): Expectation[] =>
      [...free].flatMap(([aggregateType, ids]): Expectation[] => {
        const aggregateId = ids.filter((id) => !isKept(key(aggregateType, id)));
        if (aggregateId.length === 0) return [];
        const where = { instanceId, aggregateType, aggregateId, aggregateVersion: 1n };
        return [{ kind: "rows", table: events, where, count: 0 }];
      }),
  };
}
