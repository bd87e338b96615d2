import type { Parameters } from "../form.ts";

/** The client id and secret of a form body (RFC 6749 section 2.3.1). */
export function readPost(form: Parameters): { clientId: string; secret: string } | undefined {
  const secret = form.get("client_secret");
  return secret === undefined ? undefined : { clientId: form.get("client_id") ?? "", secret };
}
