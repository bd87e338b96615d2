import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { failedPrecondition } from "../errors.ts";
import type { Config } from "./config.ts";

/**
 * What the port proves itself with; undefined where the configuration names nothing.
 * @throws FAILED_PRECONDITION TLS_FILES_WRONG when the files cannot be read, hold no PEM, or do not belong together
 */
export function certificateOf({
  tlsCert,
  tlsKey,
}: Config): { cert: Buffer; key: Buffer } | undefined {
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  try {
    const files = { cert: readFileSync(tlsCert), key: readFileSync(tlsKey) };
    createSecureContext(files);
    return files;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw failedPrecondition(
      "TLS_FILES_WRONG",
      `${tlsCert} and ${tlsKey} are no certificate and its key (${why}): IDSVC_TLS_CERT and IDSVC_TLS_KEY name PEM files, the certificate's with its chain`,
      { cause },
    );
  }
}
