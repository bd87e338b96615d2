import { invalidRequest } from "../errors.ts";
import type { Parameters } from "../form.ts";
import { subjectOfAssertion, type Unproven, unproven, verifyAssertion } from "../assertion.ts";
import type { At, Client, Ports, Spend } from "../ports.ts";
import { tokenPath } from "../paths.ts";

const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/**
 * A client assertion (RFC 7523 section 2.2, OpenID Connect Core 1.0 section 9).
 * @throws OAuthError invalid_request when one of its two parameters is missing or of another type
 */
export function readClientAssertion(form: Parameters): string | undefined {
  const assertion = form.get("client_assertion");
  const type = form.get("client_assertion_type");
  if (assertion === undefined && type === undefined) return undefined;
  if (assertion === undefined) throw invalidRequest("the parameter client_assertion is missing");
  if (type !== assertionType) {
    throw invalidRequest(`the parameter client_assertion_type must be ${assertionType}`);
  }
  return assertion;
}

/** The client whose assertion this is, and what must be used up for it; else what is wrong, for the log alone. */
export async function verifyClientAssertion(
  { clients, now }: Pick<Ports, "clients" | "now">,
  at: At,
  assertion: string,
  claimedId: string | undefined,
): Promise<{ client: Client; spend: Extract<Spend, { kind: "assertion" }> } | Unproven> {
  // Only to find the key: nothing of it counts before it is verified.
  const clientId = subjectOfAssertion(assertion);
  if (clientId === undefined) return unproven("it names no subject");
  if (claimedId !== undefined && claimedId !== clientId) {
    return unproven("the parameter client_id names another client");
  }
  const client = await clients.byId(at, clientId);
  if (client === undefined) return unproven("no active app has its subject as client id");
  if (client.authMethod !== "private_key_jwt") {
    return unproven("the app does not prove itself by private_key_jwt");
  }
  const verified = await verifyAssertion(assertion, {
    keyOf: (kid) => clients.keyOf(at, client, kid),
    used: (kid) => clients.keyUsed(at, client, kid),
    audiences: client.strictAssertionAudience
      ? [at.issuer]
      : [at.issuer, `${at.issuer}${tokenPath}`],
    now: now(),
  });
  if ("unproven" in verified) return verified;
  if (verified.subject !== clientId || verified.issuer !== clientId) {
    return unproven("iss and sub are not both the client id");
  }
  if (verified.jti === undefined) return unproven("it lacks jti");
  const { jti, expiresAt } = verified;
  return { client, spend: { kind: "assertion", issuer: `client:${clientId}`, jti, expiresAt } };
}
