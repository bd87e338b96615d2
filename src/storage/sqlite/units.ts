import type { CompiledUnit, Step } from "./compile.ts";

// Units on their way to the thread or process that writes them, as a text of JSON: to read one takes a quarter of what a structured clone
// takes. Bytes follow the text, in the order in which they stand in it; an integer of 64 bits is its digits. A value that
// the last step of the batch by the same statement has at the same place is not repeated: for tokens of one client that is half of the
// text, and of the time to write and to read it.

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
type SentUnits = [texts: readonly string[], units: SentUnit[]];

/** @property texts of the statements that were not sent before */
export type Units = { texts: readonly string[]; units: readonly CompiledUnit[] };

const nothing: readonly number[] = [];

/** The units as one line of text, and the bytes that belong to it. */
export function encodeUnits({ texts, units }: Units): { text: string; parts: Uint8Array[] } {
  const parts: Uint8Array[] = [];
  const last: LastValues = [];
  const sent = units.map(
    ({ instanceId, events, createdAt, steps }): SentUnit => [
      instanceId,
      events,
      createdAt,
      steps.map((step) => encodeStep(step, last, parts)),
    ],
  );
  return { text: JSON.stringify([texts, sent] satisfies SentUnits), parts };
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

export function decodeUnits({ text, bytes }: { text: string; bytes: Uint8Array }): Units {
  const [texts, sent] = JSON.parse(text) as SentUnits;
  let at = 0;
  const take = (length: number): Uint8Array => bytes.subarray(at, (at += length));
  const last: LastValues = [];
  const units = sent.map(
    ([instanceId, events, createdAt, steps]): CompiledUnit => ({
      instanceId,
      events,
      createdAt,
      steps: steps.map((step) => decodeStep(step, last, take)),
    }),
  );
  return { texts, units };
}

function decodeStep(
  [statement, sent, marked, pending, expected]: SentStep,
  last: LastValues,
  take: (length: number) => Uint8Array,
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
