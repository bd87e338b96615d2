import { invalidRequest, OAuthError } from "../errors.ts";
import { type Parameters, required } from "../form.ts";
import type { At, Client, Clients } from "../ports.ts";

/**
 * The client and where its browser goes back to. Nothing is sent there before this is proven: the URI equals a registered
 * one byte by byte (OpenID Connect Core 1.0 section 3.1.2.1, RFC 9700 section 2.1).
 *
 * @throws OAuthError for a page of our own
 */
export async function proveClient(
  clients: Clients,
  at: At,
  parameters: Parameters,
  repeated: ReadonlySet<string>,
): Promise<{ client: Client; redirectUri: string }> {
  for (const name of ["client_id", "redirect_uri"]) {
    if (repeated.has(name)) throw invalidRequest(`the parameter ${name} must be sent once`);
  }
  const clientId = required(parameters, "client_id");
  const client = await clients.byId(at, clientId);
  if (client === undefined) {
    throw new OAuthError("invalid_client", "no active application has this client_id", {
      about: "client",
    });
  }
  const redirectUri = required(parameters, "redirect_uri");
  if (client.kind === "api") {
    throw new OAuthError("unauthorized_client", "nobody logs in to an application of kind API");
  }
  if (client.redirectUris.includes(redirectUri)) return { client, redirectUri };
  throw new OAuthError(
    "invalid_request",
    client.refusedRedirectUris.includes(redirectUri)
      ? "the redirect_uri does not fit the type of the application: see its compliance problems"
      : "the redirect_uri is not registered for the application: it must equal a registered one exactly",
    { about: "redirect_uri" },
  );
}
