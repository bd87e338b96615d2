import { describe } from "../errors.ts";
import { noStore, type OidcAnswer, type OidcRequest, redirect } from "../http.ts";
import type { At, AuthorizationRequest, Interactions } from "../ports.ts";
import type { AuthorizationRefused } from "./refusal.ts";

/** Where an answer goes, and how it travels. */
export type Destination = Pick<AuthorizationRequest, "redirectUri" | "responseMode" | "state">;
export type Fields = Readonly<Record<string, string | undefined>>;

/** Sends the browser back to the client. `state` and `iss` (RFC 9207) go with every answer. */
export async function respond(
  interactions: Interactions,
  at: At,
  { redirectUri, responseMode, state }: Destination,
  fields: Fields,
  { headers }: OidcRequest,
): Promise<OidcAnswer> {
  const all = new Map<string, string>();
  for (const [name, value] of Object.entries({ ...fields, state, iss: at.issuer })) {
    if (value !== undefined) all.set(name, value);
  }
  if (responseMode === "form_post") {
    const page = await interactions.formPostPage(at, redirectUri, all, headers);
    return { status: 200, ...page, headers: { ...noStore, ...page.headers } };
  }
  const text = new URLSearchParams([...all]).toString();
  if (responseMode === "fragment") return redirect(`${redirectUri}#${text}`);
  return redirect(`${redirectUri}${redirectUri.includes("?") ? "&" : "?"}${text}`);
}

export const errorFields = ({ code, message }: AuthorizationRefused): Fields => ({
  error: code,
  error_description: describe(message),
});
