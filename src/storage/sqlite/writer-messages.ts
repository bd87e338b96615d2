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
