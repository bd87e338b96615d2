import type { Outcome } from "./apply.ts";
import type { CompiledUnit } from "./compile.ts";

/**
 * `texts`: of the statements that batches have not used before. `emptyLog`: what the write-ahead log holds goes into the file,
 * and the log becomes empty. `close`: the connection is closed, and nothing more is sent.
 */
export type ToWriter =
  | { kind: "commit"; texts: string[]; units: readonly CompiledUnit[] }
  | { kind: "emptyLog" }
  | { kind: "close" };

/** What the thread says once it is there; all else that it says is the outcome of a message, in their order. */
export const ready = "ready";

/**
 * What processes that serve a store together say to the one that writes. It answers each batch with its outcome, and says
 * that a flush failed to those that wait for nothing as well.
 *
 * @property worker the name of the process that sends; said first
 * @property batch counts the batches of the process
 * @property changes see commit-ring.ts
 * @property isAgain it was sent before, to a process that ended without an answer: it may have been committed
 */
export type ToSharedWriter =
  | { kind: "hello"; worker: string }
  | {
      kind: "commit";
      batch: number;
      texts: string[];
      units: readonly CompiledUnit[];
      changes: string;
      isAgain: boolean;
    };

/** An outcome with other errors: on the way between threads they lose their class and code. */
export function withErrors(outcome: Outcome, change: (error: unknown) => unknown): Outcome {
  if (outcome.kind === "busy") return outcome;
  if (outcome.kind !== "committed") return { ...outcome, error: change(outcome.error) };
  for (const result of outcome.results) {
    if (typeof result !== "bigint" && result.error !== undefined) {
      result.error = change(result.error);
    }
  }
  return outcome;
}
