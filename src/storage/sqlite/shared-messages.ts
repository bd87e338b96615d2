import { type Outcome, type Result } from "./apply.ts";
import type { CompiledUnit } from "./compile.ts";
import { received, type SentError, toSend } from "./errors.ts";
import type { Frame } from "./frames.ts";
import { decodeUnits, encodeUnits } from "./units.ts";

// What processes that serve a store together say to the one that writes, and its answers, as texts of JSON (units.ts).

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

/** A sequence is the difference to the one before it in the batch; as digits where that is more than a number holds. */
type SentResult = number | string | { step: number; error?: SentError };

type SentBatch = [batch: number, isAgain: boolean];

/** The message as text, and the bytes that belong to it. JSON has no line breaks, so that its parts are lines. */
export function encode(message: ToSharedWriter): { text: string; parts: Uint8Array[] } {
  if (message.kind === "hello") return { text: JSON.stringify(message.worker), parts: [] };
  const { batch, isAgain, texts, units, changes } = message;
  const { text, parts } = encodeUnits({ texts, units });
  return { text: `${JSON.stringify([batch, isAgain])}\n${text}\n${changes}`, parts };
}

export function decode({ text, bytes }: Frame): ToSharedWriter {
  const end = text.indexOf("\n");
  if (end === -1) return { kind: "hello", worker: JSON.parse(text) as string };
  const [batch, isAgain] = JSON.parse(text.slice(0, end)) as SentBatch;
  const endOfUnits = text.indexOf("\n", end + 1);
  const { texts, units } = decodeUnits({ text: text.slice(end + 1, endOfUnits), bytes });
  return { kind: "commit", batch, isAgain, texts, units, changes: text.slice(endOfUnits + 1) };
}

/** What became of the units of a batch, as it is sent and kept. */
export function encodeResults(results: readonly Result[]): string {
  let last = 0n;
  const sent = results.map((result): SentResult => {
    if (typeof result === "bigint") {
      const difference = result - last;
      last = result;
      const number = Number(difference);
      return Number.isSafeInteger(number) ? number : String(difference);
    }
    const { step, error } = result;
    return error === undefined ? { step } : { step, error: toSend(error) };
  });
  return JSON.stringify(sent);
}

function decodeResults(text: string): Result[] {
  let last = 0n;
  return (JSON.parse(text) as SentResult[]).map((result): Result => {
    if (typeof result !== "object") return (last += BigInt(result));
    const { step, error } = result;
    return error === undefined ? { step } : { step, error: received(error) };
  });
}

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
