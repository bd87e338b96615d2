import { aborted, failedPrecondition, unavailable } from "../errors.ts";

/** What a store refuses, whichever database it is in. */

export const storeClosed = () => unavailable("STORE_CLOSED", "the service is stopping: try again");

export const storeMissing = (path: string) =>
  failedPrecondition("STORE_MISSING", `${path} is no store of idsvc: check IDSVC_DATABASE_URL`);

/** @param store how messages call it */
export const formatNewer = (store: string, format: number, known: number) =>
  failedPrecondition(
    "STORE_NEWER",
    `${store} has format ${format}, this build knows up to ${known}: start the newer build, or restore a backup made by this one`,
  );

export const rebuildReplaced = () =>
  aborted(
    "REBUILD_REPLACED",
    "projections are being verified or rebuilt by another process: try again when it is done",
  );
