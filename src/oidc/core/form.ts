import { invalidRequest, OAuthError } from "./errors.ts";
import type { OidcRequest } from "./http.ts";

/** The parameters of a request, each of which was sent once. Empty ones count as absent (RFC 6749 section 3.1). */
export type Parameters = ReadonlyMap<string, string>;

const formType = "application/x-www-form-urlencoded";

/**
 * Reads a form body.
 * @throws OAuthError invalid_request: 415 for another media type; for a parameter that is repeated (RFC 6749 section 3.2)
 */
export async function readForm(request: OidcRequest): Promise<Parameters> {
  const { parameters, repeated } = collect(await readFormBody(request));
  const [twice] = repeated;
  if (twice !== undefined) throw invalidRequest(`the parameter ${twice} must be sent once`);
  return parameters;
}

/** The text of a form body. @throws OAuthError invalid_request 415 for another media type */
export async function readFormBody(request: OidcRequest): Promise<string> {
  const type = (request.headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase();
  const body = await request.text();
  if (type !== formType) {
    if (body === "" && type === "") return "";
    throw new OAuthError("invalid_request", `the body must be ${formType}`, { status: 415 });
  }
  return body;
}

/** Parameters of query strings and form bodies, and the names of those that came more than once. */
export function collect(...encoded: string[]): { parameters: Parameters; repeated: Set<string> } {
  const parameters = new Map<string, string>();
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const text of encoded) {
    for (const [name, value] of new URLSearchParams(text)) {
      if (seen.has(name)) repeated.add(name);
      seen.add(name);
      if (value !== "" && !parameters.has(name)) parameters.set(name, value);
    }
  }
  return { parameters, repeated };
}

/** @throws OAuthError invalid_request when it is absent */
export function required(parameters: Parameters, name: string): string {
  const value = parameters.get(name);
  if (value === undefined) throw invalidRequest(`the parameter ${name} is missing`);
  return value;
}

/** A space-delimited list, without repetitions (RFC 6749 section 3.3). */
export const words = (value: string | undefined): string[] => [
  ...new Set((value ?? "").split(" ").filter((word) => word !== "")),
];
