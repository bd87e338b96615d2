import { type Outcome, type Result } from "./apply.ts";
import type { CompiledUnit, Step } from "./compile.ts";
import { received, type SentError, toSend } from "./errors.ts";
import type { Frame } from "./frames.ts";

// What processes that serve a store together say to the one that writes, and its answers, as texts of JSON: to read one takes a
// quarter of what a structured clone takes. Bytes follow the text, in the order in which they stand in it; an integer of 64 bits is
// its digits. A value that the last step of the batch by the same statement has at the same place is not repeated: for tokens of one
// client that is half of the text, and of the time to write and to read it.

/**
 * @property worker the name of the process that sends; said first
 * @property batch counts the batches of the process
 * @property texts of the statements that its batches have not used before
 * @property changes see commit-ring.ts
 * @property isAgain it was sent before, to a process that ended without an answer: it may have been committed
 */
export type ToSharedWriter = { kind: "hello"; worker: string } | BatchMessage;
export type BatchMessage = {
  kind: "commit";
  batch: number;
  isAgain: boolean;
  texts: readonly string[];
  units: readonly CompiledUnit[];
  changes: string;
};

/** What a value is where the last step of the batch with the same statement has it too, at the same place. */
const same = true;
type Value = string | number | null | typeof same;
/** The values of the last step of a batch, by its statement. */
type LastValues = (readonly unknown[] | undefined)[];
/** `marked`: the places of values that are of another kind: 64-bit integers stand there as texts, bytes as their length. */
type SentStep = [
  statement: number,
  values: readonly Value[],
  marked: readonly number[] | null,
  pending: readonly number[] | null,
  expected: number | null,
];
type SentUnit = [instanceId: string, events: number, createdAt: number, steps: SentStep[]];
type SentBatch = [batch: number, isAgain: boolean, texts: readonly string[], units: SentUnit[]];
type SentResult = string | { step: number; error?: SentError };

const nothing: readonly number[] = [];

/** The message as text, and the bytes that belong to it. */
export function encode(message: ToSharedWriter): { text: string; parts: Uint8Array[] } {
  const parts: Uint8Array[] = [];
  if (message.kind === "hello") return { text: JSON.stringify(message.worker), parts };
  const { batch, isAgain, texts, changes } = message;
  const last: LastValues = [];
  const units = message.units.map(
    ({ instanceId, events, createdAt, steps }): SentUnit => [
      instanceId,
      events,
      createdAt,
      steps.map((step) => encodeStep(step, last, parts)),
    ],
  );
  const sent: SentBatch = [batch, isAgain, texts, units];
  // JSON has no line breaks.
  return { text: `${JSON.stringify(sent)}\n${changes}`, parts };
}

function encodeStep(step: Step, last: LastValues, parts: Uint8Array[]): SentStep {
  const { statement, values } = step;
  const before = last[statement];
  last[statement] = values;
  let marked: number[] | null = null;
  const sent = values.map((value, at): Value => {
    if (before !== undefined && value === before[at]) return same;
    const isInteger = typeof value === "bigint";
    if (!isInteger && !(value instanceof Uint8Array)) return value as Value;
    (marked ??= []).push(at);
    if (isInteger) return String(value);
    parts.push(value);
    return value.length;
  });
  return [statement, sent, marked, step.pending ?? null, step.expected ?? null];
}

export function decode({ text, bytes }: Frame): ToSharedWriter {
  const end = text.indexOf("\n");
  if (end === -1) return { kind: "hello", worker: JSON.parse(text) as string };
  const [batch, isAgain, texts, sent] = JSON.parse(text.slice(0, end)) as SentBatch;
  let at = 0;
  const take = (length: number): Buffer => bytes.subarray(at, (at += length));
  const last: LastValues = [];
  const units = sent.map(
    ([instanceId, events, createdAt, steps]): CompiledUnit => ({
      instanceId,
      events,
      createdAt,
      steps: steps.map((step) => decodeStep(step, last, take)),
    }),
  );
  return { kind: "commit", batch, isAgain, texts, units, changes: text.slice(end + 1) };
}

function decodeStep(
  [statement, sent, marked, pending, expected]: SentStep,
  last: LastValues,
  take: (length: number) => Buffer,
): Step {
  const values: unknown[] = sent as unknown[];
  const before = last[statement];
  last[statement] = values;
  if (before !== undefined) {
    for (let at = 0; at < values.length; at += 1) if (values[at] === same) values[at] = before[at];
  }
  for (const at of marked ?? nothing) {
    const value = values[at];
    values[at] = typeof value === "string" ? BigInt(value) : take(Number(value));
  }
  const step: Step = { statement, values };
  if (pending !== null) step.pending = pending as number[];
  if (expected !== null) step.expected = expected;
  return step;
}

/** What became of the units of a batch, as it is sent and kept. */
export const encodeResults = (results: readonly Result[]): string =>
  JSON.stringify(
    results.map((result): SentResult => {
      if (typeof result === "bigint") return String(result);
      const { step, error } = result;
      return error === undefined ? { step } : { step, error: toSend(error) };
    }),
  );

const decodeResults = (text: string): Result[] =>
  (JSON.parse(text) as SentResult[]).map((result): Result => {
    if (typeof result === "string") return BigInt(result);
    const { step, error } = result;
    return error === undefined ? { step } : { step, error: received(error) };
  });

/** An answer, of whose results the text is there. */
export const encodeCommitted = (tookMs: number, flushMs: number, results: string): string =>
  `${JSON.stringify([tookMs, flushMs])}\n${results}`;

export const encodeFailure = (outcome: Exclude<Outcome, { kind: "committed" }>): string =>
  JSON.stringify(
    outcome.kind === "busy" ? outcome : { kind: outcome.kind, error: toSend(outcome.error) },
  );

export function decodeOutcome(text: string): Outcome {
  const end = text.indexOf("\n");
  if (end !== -1) {
    const [tookMs, flushMs] = JSON.parse(text.slice(0, end)) as [number, number];
    return { kind: "committed", results: decodeResults(text.slice(end + 1)), tookMs, flushMs };
  }
  const outcome = JSON.parse(text) as
    | { kind: "busy" }
    | { kind: "failed" | "unknown"; error: SentError };
  return outcome.kind === "busy" ? outcome : { ...outcome, error: received(outcome.error) };
}
