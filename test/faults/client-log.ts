/**
 * What a client knows of one call it made. The client outlives every kill of the server, so its memory is the log that
 * the checker believes.
 */
export type Entry = {
  op:
    | "create"
    | "patch"
    | "delete"
    | "put"
    | "read"
    | "add user"
    | "remove user"
    | "add token"
    | "use token"
    | "open session"
    | "end session"
    | "add project"
    | "add role"
    | "give grant"
    | "take grant"
    | "redeem";
  /** Stands in what is made or patched, and nowhere else; of a one-time value, which it is. */
  mark: string;
  /** `unknown`: the connection broke, or the answer said nothing definite. */
  outcome: "acknowledged" | "refused" | "unknown";
  status: number;
  /** Of a refusal: its stable reason, and what it says. */
  reason: string;
  text: string;
  /** The object, as far as the client knows. */
  id: string;
  /** The sequence that the answer told; for a read, that of the object. */
  sequence: bigint;
  /** A token that was made, which its maker uses. */
  secret?: string;
  /** For a read: the sequence of the client's own last acknowledged write of the object. */
  atLeast?: bigint;
};

// What says that nothing was changed, and must be right.
const nothingChanged = new Set([
  "STORE_UNAVAILABLE",
  "STORE_BUSY",
  "STORE_CLOSED",
  "STORE_IN_RECOVERY",
]);

/** Outcomes that leave no doubt about whether something was written. */
export function outcomeOf(status: number, reason = ""): Entry["outcome"] {
  if (status >= 200 && status < 300) return "acknowledged";
  if (status >= 400 && status < 500) return "refused";
  return nothingChanged.has(reason) ? "refused" : "unknown";
}

/** Answers that no fault explains: an internal error, or words that tell of the machine inside. */
export const unexplained = (log: readonly Entry[]): string[] =>
  log
    .filter(
      ({ status, text }) =>
        (status >= 500 && status !== 503 && status !== 504) ||
        /postgres|\/tmp\/|ECONN|127\.0\.0\.1|SQLITE|\.s\.PGSQL/i.test(text),
    )
    .map(({ op, mark, status, text }) => `${op} ${mark} was answered ${status}: ${text}`);

const reads: readonly Entry["op"][] = ["read", "use token"];

/** Writes whose answers tell the sequence that they have in the log. */
export const acknowledgedInLog = (log: readonly Entry[]): Entry[] =>
  log.filter(
    ({ op, outcome }) => !reads.includes(op) && op !== "redeem" && outcome === "acknowledged",
  );

export const acknowledgedWrites = (log: readonly Entry[]): number =>
  log.filter(({ op, outcome }) => !reads.includes(op) && outcome === "acknowledged").length;
