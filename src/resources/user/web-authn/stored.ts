import type { AuthenticatorRow } from "../authenticator/queries.ts";
import type { StoredCredential } from "./ceremony.ts";
import { textOf } from "./client-data.ts";

/** What is stored of a credential, and the domain it counts for. */
export function toCredential({
  lookup,
  number,
  details,
}: AuthenticatorRow): StoredCredential & { domain: string } {
  const { publicKey, transports, rpId } = details;
  return {
    credentialId: lookup,
    publicKey: textOf(publicKey),
    transports: Array.isArray(transports) ? transports.map(textOf) : [],
    signCount: number,
    domain: textOf(rpId),
  };
}
