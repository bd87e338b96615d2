import { randomBytes } from "node:crypto";
import type { SealingKey } from "../crypto/secrets.ts";
import { recent } from "../storage/recent.ts";
import type { Database } from "../storage/database.ts";
import { and, eq, inArray } from "../storage/drizzle.ts";
import { origins } from "../storage/kernel-tables.ts";
import { insertRow, type RowChange } from "../storage/row-change.ts";
import type { Row } from "../storage/table.ts";
import type { Origin, Presence, Seen } from "./presence.ts";
import { type SeenStore, spanOf } from "./seen.ts";
import type { Transaction } from "./transaction.ts";

// Some 300 bytes each. Of a presence that is not among them another origin is written.
const mostKept = 40_000;

/** The origin of the events of a unit. */
export type UnitOrigin = {
  id: string;
  /** What must be written with them; nothing where the origin is known. */
  changes: RowChange[];
  /** To be called when the unit is committed: from then on the origin is known. */
  keep(): void;
};

export type Origins = {
  of(
    tx: Pick<Transaction, "now" | "expectRows">,
    instanceId: string,
    presence: Presence,
    newKeys: Map<string, SealingKey>,
  ): Promise<UnitOrigin>;
  /** Those that are there, by their ids. */
  read(instanceId: string, ids: readonly string[], now: Date): Promise<Map<string, Origin>>;
};

/**
 * Who was there when events were written (L4). An origin is written once for all events of a presence that this
 * process writes: once a session, not once an event. Its id is drawn, since a digest of the address would outlive what
 * erasure destroys.
 */
export function createOrigins(db: Database, seen: SeenStore): Origins {
  const t = db.table(origins);
  // The ids of those that are committed.
  const known = recent<string>(mostKept);

  return {
    async of(tx, instanceId, presence, newKeys) {
      const name = nameOf(instanceId, presence, tx.now);
      const knownId = known.find(name);
      if (knownId !== undefined) return { id: knownId, changes: [], keep() {} };
      const id = randomBytes(12).toString("base64url");
      const { sealed, changes } = await seen.seal(tx, { instanceId, id }, presence, newKeys);
      const row = insertRow(origins, {
        instanceId,
        id,
        createdAt: tx.now,
        ...whoIn(presence),
        ...sealed,
      });
      const isWhole = sealed.sealed !== null;
      return {
        id,
        changes: [...changes, row],
        keep: () => {
          if (isWhole) known.store(name, id);
        },
      };
    },

    async read(instanceId, ids, now) {
      const found = new Map<string, Origin>();
      if (ids.length === 0) return found;
      const rows = await db.read
        .select()
        .from(t)
        .where(and(eq(t.instanceId, instanceId), inArray(t.id, [...ids])));
      for (const row of rows) found.set(row.id, toOrigin(row, await seen.open(row, now)));
      return found;
    },
  };
}

type Who = Pick<Row<typeof origins>, "personId" | "sessionId" | "flowId" | "familyId" | "actorIds">;

/** The columns that say who was there. */
export const whoIn = (presence: Presence | undefined): Who => ({
  personId: presence?.personId ?? null,
  sessionId: presence?.sessionId ?? null,
  flowId: presence?.flowId ?? null,
  familyId: presence?.familyId ?? null,
  actorIds: [...(presence?.actorIds ?? [])],
});

/** What is told of a row with these columns, and of what was seen. */
export const toOrigin = (
  { id, personId, sessionId, flowId, familyId, actorIds }: Who & { id: string },
  seen: Seen | undefined,
): Origin => ({
  id,
  actorIds,
  seen,
  personId: personId ?? undefined,
  sessionId: sessionId ?? undefined,
  flowId: flowId ?? undefined,
  familyId: familyId ?? undefined,
});

/** What tells presences apart; it never leaves the memory of the process. */
function nameOf(instanceId: string, presence: Presence, now: Date): string {
  const { personId, sessionId, flowId, familyId, actorIds, address, browser, system } = presence;
  const actors = actorIds === undefined ? "" : actorIds.join(" ");
  // Whoever has no key of their own is sealed with that of the span: when it opens no more, it is not gone on with.
  return `${instanceId}\n${spanOf(now)}\n${personId ?? ""}\n${sessionId ?? ""}\n${flowId ?? ""}\n${familyId ?? ""}\n${actors}\n${address}\n${browser}\n${system}`;
}
