import type { Parameters } from "../form.ts";
import type { Client, ResponseType } from "../ports.ts";
import { refuse } from "./refusal.ts";

/** What a challenge may be made of (RFC 7636 section 4.2). */
const challenge = /^[\w.~-]{43,128}$/;

export const codeChallengeMethods = ["S256"] as const;

/**
 * The challenge that the code will be bound to (RFC 7636). Clients without a secret must send one; whoever sends one is
 * bound by it.
 * @throws invalid_request
 */
export function codeChallengeOf(
  parameters: Parameters,
  type: ResponseType,
  client: Client,
): string | undefined {
  const sent = parameters.get("code_challenge");
  const method = parameters.get("code_challenge_method");
  if (sent === undefined) {
    if (method !== undefined) throw refuse("invalid_request", "code_challenge is missing");
    if (type !== "code" || client.authMethod !== "none") return undefined;
    throw refuse("invalid_request", "an application without a secret must send a code_challenge");
  }
  if (method !== "S256") {
    throw refuse("invalid_request", "code_challenge_method must be S256");
  }
  if (!challenge.test(sent)) {
    throw refuse("invalid_request", "code_challenge must be 43 to 128 letters, digits, -._~");
  }
  return sent;
}
