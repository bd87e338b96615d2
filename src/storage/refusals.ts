import {
  aborted,
  DomainError,
  type ErrorFacts,
  failedPrecondition,
  unavailable,
} from "../errors.ts";

/** What a store refuses, whichever database it is in. */

export const storeClosed = () => unavailable("STORE_CLOSED", "the service is stopping: try again");

export const storeMissing = (path: string) =>
  failedPrecondition("STORE_MISSING", `${path} is no store of idsvc: check IDSVC_DATABASE_URL`);

/** @param store how messages call it */
export const formatNewer = (store: string, format: number, known: number) =>
  storeNewer(
    "failedPrecondition",
    `${store} has format ${format}, this build knows up to ${known}: start the newer build, or restore a backup made by this one`,
  );

export const rebuildReplaced = () =>
  aborted(
    "REBUILD_REPLACED",
    "projections are being verified or rebuilt by another process: try again when it is done",
  );

type When = "failedPrecondition" | "unavailable";

/** A newer build has written it. @param kind at the start it cannot be served; later a request cannot be answered */
export const storeNewer = (kind: When, text: string, facts?: ErrorFacts) =>
  new DomainError(kind, "STORE_NEWER", text, facts);

/** @param kind as of `storeNewer` */
export const storeDamaged = (kind: When, text: string, facts?: ErrorFacts) =>
  new DomainError(kind, "STORE_DAMAGED", text, facts);

export const storeBusy = (text: string, facts?: ErrorFacts) =>
  unavailable("STORE_BUSY", text, facts);

/** It cannot be asked, or written, now; nothing was changed. The private cause keeps what the driver said. */
export const storeUnavailable = (text: string, facts: ErrorFacts) =>
  unavailable("STORE_UNAVAILABLE", text, facts);

/** Whether the change was made nobody knows. */
export const storeOutcomeUnknown = (text: string, cause: unknown) =>
  unavailable("STORE_OUTCOME_UNKNOWN", text, { retryAfterSeconds: 5, cause });
