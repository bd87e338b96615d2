import type { EventStore, LoggedEvent } from "../../eventstore/eventstore.ts";
import type { SecretRef, SecretStore } from "../../eventstore/secret-store.ts";
import { enqueue, jobKind } from "../../jobs/job.ts";
import type { RowChange } from "../../storage/row-change.ts";
import { currentSpan } from "../../telemetry/tracing.ts";
import type { Cause, Later } from "../run.ts";
import { addWaiting } from "./table.ts";

/**
 * A delivery that is due: of an event, whose payload is made anew from the log at each attempt, or of a call, whose
 * payload is sealed beside it. `position` 0 is a call. `behind` are the targets of the event that wait for this one. `trace` is
 * that of the call, as the header `traceparent` names it.
 */
export type DeliveryWork = {
  executionId: string;
  targetId: string;
  cause: Cause;
  position: string;
  depth: number;
  behind: string[];
  trace?: string;
};

export const deliveryKind = jobKind<DeliveryWork>("executor.delivery");

/** Where the payload of a call lies until it is delivered: it may hold what only the target shall see. */
export const payloadRef = (instanceId: string, deliveryId: string): SecretRef => ({
  instanceId,
  ownerType: "delivery",
  ownerId: deliveryId,
  kind: "delivery_payload",
  id: "1",
});

type At = { instanceId: string; newId: () => string; now: Date };

/** What it takes to call an asynchronous target: job, record and sealed payload. */
export async function callLater(
  secrets: SecretStore,
  { instanceId, newId, now }: At,
  depth: number,
  { target, executionId, cause, body }: Later,
): Promise<RowChange[]> {
  const id = newId();
  const about = { executionId, targetId: target.id, cause };
  const key = `${target.id}/${id}`;
  const trace = currentSpan()?.headers()["traceparent"];
  return [
    addWaiting({ ...about, instanceId, deliveryId: id, eventSequence: 0n }, now),
    enqueue(
      deliveryKind,
      { instanceId, id, now, key, position: 0n },
      { ...about, position: "0", depth, behind: [], ...(trace === undefined ? {} : { trace }) },
    ),
    await secrets.put(payloadRef(instanceId, id), Buffer.from(body), now),
  ];
}

type EventFacts = Pick<LoggedEvent, "type" | "aggregateType" | "aggregateId" | "sequence">;

/**
 * What it takes to deliver an event to the targets of an execution, up to the first that interrupts: those behind it
 * are told of the event once that one has taken it (X9).
 *
 * Deliveries of one target and object go in the order of the log.
 */
export function deliverEvent(
  { instanceId, newId, now }: At,
  event: EventFacts,
  of: {
    executionId: string;
    depth: number;
    targets: readonly { id: string; interruptOnError: boolean }[];
  },
): RowChange[] {
  const { executionId, depth, targets } = of;
  const last = targets.findIndex(({ interruptOnError }) => interruptOnError);
  const first = last === -1 ? targets : targets.slice(0, last + 1);
  const cause: Cause = { type: "event", value: event.type };
  return first.flatMap((target, nth) => {
    const id = newId();
    const about = { executionId, targetId: target.id, cause };
    const behind = nth === last ? targets.slice(last + 1).map((each) => each.id) : [];
    const key = `${target.id}/${event.aggregateType}/${event.aggregateId}`;
    return [
      addWaiting({ ...about, instanceId, deliveryId: id, eventSequence: event.sequence }, now),
      enqueue(
        deliveryKind,
        { instanceId, id, now, key, position: event.sequence },
        { ...about, position: String(event.sequence), depth, behind },
      ),
    ];
  });
}

/** The event at a position of the log. */
export async function eventAt(
  events: EventStore,
  instanceId: string,
  sequence: bigint,
): Promise<LoggedEvent | undefined> {
  const [event] = await events.read({ instanceId, after: sequence - 1n, limit: 1 });
  return event?.sequence === sequence ? event : undefined;
}
