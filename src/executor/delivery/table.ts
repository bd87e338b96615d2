import { insertRow, type RowChange, type RowPart, updateRows } from "../../storage/row-change.ts";
import {
  instant,
  int,
  int64,
  optionalInstant,
  optionalText,
  type Row,
  table,
  text,
} from "../../storage/table.ts";
import type { Outcome } from "../call-target.ts";
import type { Cause } from "../run.ts";

/**
 * What became of each delivery to a target (X11): short-lived state, which holds no body and no secret.
 *
 * `causeValue` is the method, event or function; `eventSequence` the event's position in the log, 0 for what is no event.
 * `statusClass` is the first digit of the last answer's status, 0 where there was none. A delivery that waits or is dead
 * has a job of its id.
 */
export const deliveries = table(
  "deliveries",
  {
    instanceId: text(),
    id: text(),
    executionId: text(),
    targetId: text(),
    cause: text(),
    causeValue: text(),
    eventSequence: int64(),
    state: text(),
    attempts: int(),
    statusClass: int(),
    durationMs: int(),
    failure: optionalText(),
    creationDate: instant(),
    changeDate: instant(),
    expiresAt: optionalInstant(),
  },
  {
    key: ["instanceId", "id"],
    indexes: [
      { columns: ["instanceId", "creationDate", "id"] },
      { columns: ["instanceId", "targetId", "creationDate", "id"] },
      { columns: ["expiresAt"] },
    ],
  },
);

export type DeliveryRow = Row<typeof deliveries>;

/** `waiting` also while it is at work; `failed`: nothing tries again by itself, nor could. */
export type DeliveryState = "waiting" | "delivered" | "failed" | "dead";

const hourMs = 3_600_000;
/** How long the record of a delivery is kept after its end. What waits is kept until it ends. */
export const keptMs = { delivered: 24 * hourMs, failed: 7 * 24 * hourMs, dead: 30 * 24 * hourMs };

type About = {
  instanceId: string;
  deliveryId: string;
  executionId: string;
  targetId: string;
  cause: Cause;
  eventSequence: bigint;
};

/** A delivery that is still to be made. */
export const addWaiting = (about: About, now: Date): RowChange =>
  insertRow(deliveries, { ...begun(about, now), state: "waiting", attempts: 0 });

/** A delivery that was tried while somebody waited for it. */
export const addTried = (about: About, attempt: number, outcome: Outcome, now: Date): RowChange =>
  insertRow(deliveries, {
    ...begun(about, now),
    ...triedWith(outcome),
    ...endedAs(outcome.ok ? "delivered" : "failed", now),
    attempts: attempt,
  });

/** What an attempt at a delivery came to; without an end it waits for the next. */
export const noteAttempt = (
  at: { instanceId: string; id: string },
  tried: { attempt: number; outcome: Outcome; end?: "delivered" | "failed" },
  now: Date,
): RowChange =>
  changeDelivery(at, {
    ...triedWith(tried.outcome),
    ...(tried.end === undefined ? { changeDate: now } : endedAs(tried.end, now)),
    attempts: tried.attempt,
  });

export const changeDelivery = (
  { instanceId, id }: { instanceId: string; id: string },
  part: RowPart<typeof deliveries>,
): RowChange => updateRows(deliveries, { instanceId, id }, part);

export const endedAs = (state: keyof typeof keptMs, now: Date) => ({
  state,
  changeDate: now,
  expiresAt: new Date(now.getTime() + keptMs[state]),
});

const begun = (about: About, now: Date) => ({
  instanceId: about.instanceId,
  id: about.deliveryId,
  executionId: about.executionId,
  targetId: about.targetId,
  cause: about.cause.type,
  causeValue: about.cause.value,
  eventSequence: about.eventSequence,
  statusClass: 0,
  durationMs: 0,
  creationDate: now,
  changeDate: now,
});

const triedWith = (outcome: Outcome) => ({
  statusClass: Math.floor(outcome.status / 100),
  durationMs: Math.round(outcome.durationMs),
  failure: outcome.ok ? null : outcome.failure,
});
