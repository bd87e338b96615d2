import type { Reaction } from "../../../eventstore/settle.ts";
import { isServiceEditor } from "../../../authz/context.ts";
import type { NoteRefusal, Refused } from "../../../authz/ports.ts";
import type { SealingKey } from "../../../crypto/secrets.ts";
import { whoIn } from "../../../eventstore/origins.ts";
import type { Presence } from "../../../eventstore/presence.ts";
import type { Transaction } from "../../../eventstore/transaction.ts";
import type { Deps } from "../../../projection/module.ts";
import { deferredWrite } from "../../../storage/deferred-write.ts";
import { deleteRows, putRow, type RowChange } from "../../../storage/row-change.ts";
import type { Table } from "../../../storage/table.ts";
import type { HomesOf } from "../../history/origins.ts";
import { refusals } from "./table.ts";
import { type Counted, createTally } from "./tally.ts";

const flushMs = 1_000;
// Reasons are those of the code; all the same there is an end.
const mostReasons = 300;
const mostAnHour = 1_000;
const atOnce = 100;
const keptMs = 90 * 24 * 60 * 60_000;

export type Refusals = AsyncDisposable & {
  note: NoteRefusal;
  /** How many were noted since the start, by kind and reason. */
  noted(): readonly { kind: string; reason: string; count: number }[];
};

type Parts = Pick<Deps, "events" | "now" | "newId"> & {
  homesOf: HomesOf;
  /** Users: of those who are gone nothing is kept. */
  people: Table;
};

/**
 * Keeps what was refused (J15): noted at no cost to who is refused, so that neither answer nor time tells anything,
 * and written within a second.
 */
export function createRefusals(parts: Parts, onError: (error: unknown) => void): Refusals {
  const { events, now, newId } = parts;
  const tally = createTally(mostAnHour);
  const reasons = createReasonCounts();

  async function write(instanceId: string, due: readonly Counted[]): Promise<void> {
    const ids = due.map(({ id }) => id ?? newId());
    const written = await events.transact({ ...by, instanceId }, async (tx) => {
      const homes = await parts.homesOf(instanceId, [...new Set(due.flatMap(peopleIn))]);
      for (const id of homes.keys()) {
        tx.expectRows<Table>(parts.people, { instanceId, id }, 1);
      }
      const newKeys = new Map<string, SealingKey>();
      const remaining: Counted[] = [];
      for (const [nth, each] of due.entries()) {
        const { userId } = each.refused;
        // Whoever is gone leaves nothing.
        if (userId !== undefined && !homes.has(userId) && !isServiceEditor(userId)) continue;
        const id = ids[nth] ?? newId();
        const home = each.refused.organizationId ?? homes.get(userId ?? "") ?? "";
        tx.write(...(await rowsOf(events, tx, { ...each, id }, home, newKeys)));
        remaining.push(each);
      }
      return remaining;
    });
    for (const each of written) each.id ??= ids[due.indexOf(each)];
  }

  const flushing = deferredWrite(async () => {
    for (const [instanceId, due] of Map.groupBy(tally.due(), (each) => each.refused.instanceId)) {
      for (let from = 0; from < due.length; from += atOnce) {
        await write(instanceId, due.slice(from, from + atOnce)).catch(onError);
      }
    }
  }, flushMs);

  return {
    noted: reasons.noted,
    note(refused) {
      reasons.add(refused);
      tally.add(refused, now());
      flushing.ask();
    },
    [Symbol.asyncDispose]: flushing[Symbol.asyncDispose],
  };
}

/** The row of a refusal, with the key that seals whence it came where that is new. */
async function rowsOf(
  { seen }: Parts["events"],
  tx: Transaction,
  counted: Counted & { id: string },
  organizationId: string,
  newKeys: Map<string, SealingKey>,
): Promise<RowChange[]> {
  const { id, refused, count, firstAt, lastAt } = counted;
  const { instanceId, kind, reason, operation, userId, clientId, idpId } = refused;
  const presence = presenceOf(refused);
  const { sealed, changes } =
    presence === undefined
      ? withoutPresence
      : await seen.seal(tx, { instanceId, id }, presence, newKeys);
  return [
    ...changes,
    putRow(refusals, {
      instanceId,
      id,
      kind,
      reason,
      operation,
      organizationId,
      count,
      firstAt,
      lastAt,
      userId: userId ?? null,
      clientId: clientId ?? null,
      idpId: idpId ?? null,
      ...whoIn(presence),
      ...sealed,
      expiresAt: new Date(lastAt.getTime() + keptMs),
    }),
  ];
}

const withoutPresence = { sealed: { keyType: "", keyId: "", sealed: null }, changes: [] };

/** How often each reason was given since the start; beyond so many reasons each further one counts as "other". */
function createReasonCounts() {
  const counts = new Map<string, { kind: string; reason: string; count: number }>();
  return {
    noted: () => [...counts.values()],
    add({ kind, reason }: Refused): void {
      const isRoom = counts.has(`${kind} ${reason}`) || counts.size < mostReasons;
      const named = isRoom ? reason : "other";
      const key = `${kind} ${named}`;
      const before = counts.get(key)?.count ?? 0;
      counts.set(key, { kind, reason: named, count: before + 1 });
    },
  };
}

/** What is kept of refusals to somebody, at their account and by them, goes with them. */
export const refusalsGoWithUser: Reaction = {
  to: ["user.removed"],
  async react(tx, happened) {
    const { instanceId } = tx.at;
    for (const { aggregateId: userId } of happened) {
      tx.write(
        deleteRows(refusals, { instanceId, userId }),
        deleteRows(refusals, { instanceId, personId: userId }),
      );
    }
  },
};

const by = { editorId: "system:refusals", service: "refusals", clientId: "", requestId: "" };

/** A browser that tries somebody's account on the pages of the login is taken for theirs: they are to see it. */
function presenceOf({ userId, presence }: Refused): Presence | undefined {
  if (presence?.isVisitor !== true || userId === undefined) return presence;
  return { ...presence, personId: userId };
}

const peopleIn = ({ refused }: Counted): string[] => {
  const { userId } = refused;
  return userId === undefined ? [] : [userId];
};
