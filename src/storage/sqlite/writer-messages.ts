import type { Outcome } from "./apply.ts";

/**
 * `commit`: units (units.ts). `emptyLog`: what the write-ahead log holds goes into the file,
 * and the log becomes empty. `close`: the connection is closed, and nothing more is sent.
 */
export type ToWriter =
  | { kind: "commit"; text: string; bytes: Uint8Array }
  | { kind: "emptyLog" }
  | { kind: "close" };

/** What the thread says once it is there; all else that it says is the outcome of a message, in their order. */
export const ready = "ready";

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
