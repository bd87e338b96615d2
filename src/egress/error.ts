import { DomainError, type Kind } from "../errors.ts";

/**
 * Why an outgoing call gave no answer.
 *
 * | Failure | Meaning |
 * |---|---|
 * | `denied` | the guard forbids scheme, address or port; no byte was sent |
 * | `dns` | the name has no address, or its servers do not answer |
 * | `connect` | the connection was refused, unreachable or reset before it stood |
 * | `tls` | no TLS, a certificate that is not trusted, or one of another name |
 * | `timeout` | the time of the whole call was over, in whatever phase |
 * | `cancelled` | the caller gave up |
 * | `redirect` | the answer sends elsewhere; nobody follows |
 * | `encoding` | the answer is compressed though none was asked for |
 * | `too_large` | the answer's header or body is longer than the limit |
 * | `protocol` | the answer is no HTTP, or was cut off |
 */
export type EgressFailure =
  | "denied"
  | "dns"
  | "connect"
  | "tls"
  | "timeout"
  | "cancelled"
  | "redirect"
  | "encoding"
  | "too_large"
  | "protocol";

const texts: Record<EgressFailure, string> = {
  denied: "leads to an internal address or a forbidden port",
  dns: "has no address, or its name servers do not answer",
  connect: "cannot be connected to",
  tls: "has no valid TLS certificate for its name",
  timeout: "did not answer in time",
  cancelled: "was left before it answered",
  redirect: "answers with a redirect, which is not followed",
  encoding: "answers with a compressed body though none was asked for",
  too_large: "answers with more than is read",
  protocol: "does not answer with whole HTTP",
};

const kinds: Partial<Record<EgressFailure, Kind>> = {
  denied: "failedPrecondition",
  cancelled: "cancelled",
  timeout: "deadlineExceeded",
};

/**
 * An outgoing call that failed; reason `EGRESS_<FAILURE>`.
 *
 * It names the host that the caller gave and nothing beyond: no path (which may hold a secret), no address that the
 * name stands for, nothing of the answer. `detail` is a code of the system or of the guard's rule, never text of a peer.
 */
export class EgressError extends DomainError {
  readonly failure: EgressFailure;
  readonly detail: string;

  constructor(failure: EgressFailure, host: string, detail = "") {
    super(
      kinds[failure] ?? "unavailable",
      `EGRESS_${failure.toUpperCase()}`,
      `${host} ${texts[failure]}`,
      { metadata: { host, ...(detail === "" ? {} : { detail }) } },
    );
    this.name = "EgressError";
    this.failure = failure;
    this.detail = detail;
  }
}

/** The code of a system error (`ECONNREFUSED`, `CERT_HAS_EXPIRED`); its message would tell addresses. */
export function systemCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string"
    ? error.code
    : "";
}
