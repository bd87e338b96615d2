import { clientKeyKinds, readClientKey } from "../../crypto/client-key.ts";
import { invalidField } from "../../errors.ts";

/**
 * A public key that assertions are verified with, as SPKI in PEM form.
 *
 * @throws INVALID_ARGUMENT PUBLIC_KEY_INVALID
 */
export function requireClientKey(pem: string, field: string): string {
  const key = readClientKey(pem);
  if (key !== undefined) return key;
  throw invalidField(field, "PUBLIC_KEY_INVALID", `must be a public key as PEM: ${clientKeyKinds}`);
}
