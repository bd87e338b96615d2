import { rowWhere } from "../../projection/rows.ts";
import type { WriteContext } from "../../eventstore/transaction.ts";
import { failedPrecondition } from "../../errors.ts";
import { revive } from "../../jobs/dead-letters.ts";
import { enqueue, type JobRow, jobs } from "../../jobs/job.ts";
import type { Deps } from "../../projection/module.ts";
import type { TargetOf } from "../../resources/action/index.ts";
import type { Database } from "../../storage/database.ts";
import { updateRows } from "../../storage/row-change.ts";
import { depthOf } from "../../telemetry/request-id.ts";
import { getDelivery } from "./queries.ts";
import { changeDelivery, type DeliveryRow, deliveries } from "./table.ts";
import { deliveryKind, eventAt } from "./work.ts";

/**
 * Has a delivery made again, under its id and at the position in the log that its event has: one that waits at once, one
 * that was given up, or an event that was taken or had no target.
 *
 * @throws NOT_FOUND DELIVERY_NOT_FOUND
 * @throws FAILED_PRECONDITION DELIVERY_AT_WORK, DELIVERY_NOT_REPEATABLE
 */
export async function redeliver(
  { db, events }: Pick<Deps, "db" | "events">,
  targetOf: TargetOf,
  at: WriteContext,
  id: string,
): Promise<DeliveryRow> {
  const { instanceId } = at;
  return events.transact(at, async (tx) => {
    const row = await getDelivery(db, instanceId, id);
    const same = { instanceId, id, state: row.state };
    tx.expectRows(deliveries, same, 1);
    const waits = { state: "waiting", attempts: 0, changeDate: tx.now, expiresAt: null };
    if ((await targetOf(instanceId, row.targetId)) === undefined) throw notRepeatable();
    switch (row.state) {
      case "waiting": {
        const job = await jobOf(db, instanceId, id);
        if (job === undefined || job.leaseUntil > tx.now) throw atWork();
        tx.expectRows(jobs, { instanceId, id, token: job.token }, 1);
        tx.write(updateRows(jobs, { instanceId, id }, { dueAt: tx.now, token: job.token + 1 }));
        return row;
      }
      case "dead":
        await revive(db, tx, { instanceId, id, position: "own" });
        tx.write(changeDelivery(row, waits));
        return { ...row, ...waits };
      default: {
        const event =
          row.eventSequence === 0n
            ? undefined
            : await eventAt(events, instanceId, row.eventSequence);
        if (event === undefined) throw notRepeatable();
        const key = `${row.targetId}/${event.aggregateType}/${event.aggregateId}`;
        const work = {
          executionId: row.executionId,
          targetId: row.targetId,
          cause: { type: "event" as const, value: event.type },
          position: String(event.sequence),
          depth: depthOf(event.requestId),
          // Those behind it have been told.
          behind: [],
        };
        const job = { instanceId, id, now: tx.now, key, position: event.sequence };
        tx.write(enqueue(deliveryKind, job, work), changeDelivery(row, waits));
        return { ...row, ...waits };
      }
    }
  });
}

const jobOf = (db: Database, instanceId: string, id: string): Promise<JobRow | undefined> =>
  rowWhere(db, jobs, { instanceId, id });

const atWork = () =>
  failedPrecondition("DELIVERY_AT_WORK", "the delivery is being made at this moment");

const notRepeatable = () =>
  failedPrecondition(
    "DELIVERY_NOT_REPEATABLE",
    "what was sent is not kept, or its target is gone: deliveries of events and such as were given up can be repeated",
  );
