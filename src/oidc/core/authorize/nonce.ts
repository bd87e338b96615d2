import type { Parameters } from "../form.ts";
import type { ResponseType } from "../ports.ts";
import { refuse } from "./refusal.ts";

const longest = 4_096;

/** @throws invalid_request where an ID token comes from this endpoint and there is none (OpenID Connect Core 1.0 section 3.2.2.1) */
export function nonceOf(parameters: Parameters, type: ResponseType): string | undefined {
  const nonce = parameters.get("nonce");
  if (nonce === undefined && type !== "code") {
    throw refuse("invalid_request", "the parameter nonce is missing: this flow needs it");
  }
  if (nonce !== undefined && nonce.length > longest) {
    throw refuse("invalid_request", `the nonce is longer than ${longest} characters`);
  }
  return nonce;
}
