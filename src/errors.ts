/** The canonical codes of RPC, by the names used inside the service. The numbers are those of `google.rpc.Code`. */
export const codes = {
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  outOfRange: 11,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

export type Kind = keyof typeof codes;

/** One field that is wrong: its path in the spelling of the schema, what is wrong, and the rule that says so. */
export type FieldViolation = { field: string; description: string; reason?: string };

export type ErrorFacts = {
  /** Public, stable facts beside the reason; never a secret. */
  metadata?: Record<string, string>;
  violations?: FieldViolation[];
  /** The private half: logged, never sent. */
  cause?: unknown;
  /** After how many seconds a retry can succeed; only with `resourceExhausted` and `unavailable`. */
  retryAfterSeconds?: number;
  /** Overrides the HTTP status of the REST mapping where HTTP knows a finer one (405, 413, 415). */
  httpStatus?: number;
  /** Extra answer headers (`allow` of a 405). */
  headers?: Record<string, string>;
};

/**
 * The one error type of the service: everything a caller may see of a refusal.
 *
 * `kind` is the canonical code, `reason` a stable UPPER_SNAKE word that no other refusal uses, `message` says what
 * is wrong and what would be right. Every protocol maps it in one place (`api/errors.ts`).
 */
export class DomainError extends Error {
  readonly kind: Kind;
  readonly reason: string;
  readonly metadata: Record<string, string>;
  readonly violations: FieldViolation[];
  readonly retryAfterSeconds: number | undefined;
  readonly httpStatus: number | undefined;
  readonly headers: Record<string, string>;

  constructor(kind: Kind, reason: string, message: string, facts: ErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = "DomainError";
    this.kind = kind;
    this.reason = reason;
    this.metadata = facts.metadata ?? {};
    this.violations = facts.violations ?? [];
    this.retryAfterSeconds = facts.retryAfterSeconds;
    this.httpStatus = facts.httpStatus;
    this.headers = facts.headers ?? {};
  }

  get code(): number {
    return codes[this.kind];
  }
}

type Factory = (reason: string, message: string, facts?: ErrorFacts) => DomainError;

const factory =
  (kind: Kind): Factory =>
  (reason, message, facts) =>
    new DomainError(kind, reason, message, facts);

export const cancelled = factory("cancelled");
export const callerGone = (text = "the caller has gone", cause?: unknown): DomainError =>
  cancelled("CANCELLED", text, { cause });
export const invalidArgument = factory("invalidArgument");
export const deadlineExceeded = factory("deadlineExceeded");
export const notFound = factory("notFound");
export const alreadyExists = factory("alreadyExists");
export const permissionDenied = factory("permissionDenied");
export const resourceExhausted = factory("resourceExhausted");
export const failedPrecondition = factory("failedPrecondition");
export const aborted = factory("aborted");
export const unimplemented = factory("unimplemented");
export const internal = factory("internal");
export const unavailable = factory("unavailable");
export const unauthenticated = factory("unauthenticated");
/** At a path that nothing is served at. */
export const routeNotFound = (): DomainError =>
  notFound("ROUTE_NOT_FOUND", "nothing is served at this path: /openapi.json lists what is");

/** @param kind to a command line its arguments are wrong, to the API nobody has said who they are */
export const tokenMissing = (
  kind: "unauthenticated" | "invalidArgument",
  text: string,
  facts?: ErrorFacts,
): DomainError => new DomainError(kind, "TOKEN_MISSING", text, facts);

/** An invalid argument that names one field. */
export function invalidField(
  field: string,
  reason: string,
  description: string,
  facts: ErrorFacts = {},
): DomainError {
  return invalidArgument(reason, `${field}: ${description}`, {
    ...facts,
    violations: [{ field, description, reason }],
  });
}
