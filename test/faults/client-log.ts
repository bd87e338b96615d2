/**
 * What a client knows of one call it made. The client outlives every kill of the server, so its memory is the log that
 * the checker believes.
 */
export type Entry = {
  op: "create" | "patch" | "delete" | "put" | "read";
  /** Stands in the url that a create or patch sends, and nowhere else. */
  mark: string;
  /** `unknown`: the connection broke, or the answer said nothing definite. */
  outcome: "acknowledged" | "refused" | "unknown";
  status: number;
  /** The object, as far as the client knows. */
  id: string;
  /** The sequence that the answer told; for a read, that of the object. */
  sequence: bigint;
  /** For a read: the sequence of the client's own last acknowledged write of the object. */
  atLeast?: bigint;
};

/** Outcomes that leave no doubt about whether something was written. */
export function outcomeOf(status: number): Entry["outcome"] {
  if (status >= 200 && status < 300) return "acknowledged";
  return status >= 400 && status < 500 ? "refused" : "unknown";
}
