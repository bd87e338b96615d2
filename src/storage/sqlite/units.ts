import type { CompiledUnit, Step } from "./compile.ts";

// Units on their way to the thread or process that writes them, as a text of JSON: to read one takes a quarter of what a structured clone
// takes. Bytes follow the text, in the order in which they stand in it; an integer of 64 bits is its digits. Of a
// step whose statement the batch has had before only those values are sent that differ from the last ones, each after its place: for
// tokens of one client that is a third of the text, and of the time to write and to read it.

type Value = string | number | null;
/** The values of the last step of a batch, by its statement. */
type LastValues = (readonly unknown[] | undefined)[];
/**
 * `values`: all of them, or where the batch has had the statement before, places and values in turn. `marked`: the places of values that
 * are of another kind: 64-bit integers stand there as texts, bytes as their length.
 */
type SentStep = [
  statement: number,
  values: readonly Value[],
  pending?: readonly number[] | null,
  marked?: readonly number[] | null,
  expected?: number | null,
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
  const { statement, values, pending, expected } = step;
  const before = last[statement];
  last[statement] = values;
  let marked: number[] | undefined;
  const sent: Value[] = [];
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at];
    if (before !== undefined) {
      if (value === before[at]) continue;
      sent.push(at);
    }
    const isInteger = typeof value === "bigint";
    if (!isInteger && !(value instanceof Uint8Array)) {
      sent.push(value as Value);
      continue;
    }
    (marked ??= []).push(at);
    if (isInteger) sent.push(String(value));
    else {
      parts.push(value);
      sent.push(value.length);
    }
  }
  if (marked === undefined && expected === undefined)
    return pending === undefined ? [statement, sent] : [statement, sent, pending];
  return [statement, sent, pending ?? null, marked ?? null, expected ?? null];
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
  [statement, sent, pending = null, marked = null, expected = null]: SentStep,
  last: LastValues,
  take: (length: number) => Uint8Array,
): Step {
  const before = last[statement];
  let values = sent as unknown[];
  if (before !== undefined) {
    values = before.slice();
    for (let at = 0; at < sent.length; at += 2) values[sent[at] as number] = sent[at + 1];
  }
  last[statement] = values;
  for (const at of marked ?? nothing) {
    const value = values[at];
    values[at] = typeof value === "string" ? BigInt(value) : take(Number(value));
  }
  const step: Step = { statement, values };
  if (pending !== null) step.pending = pending as number[];
  if (expected !== null) step.expected = expected;
  return step;
}
