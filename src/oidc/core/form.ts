import { invalidRequest, OAuthError } from "./errors.ts";
import type { OidcRequest } from "./http.ts";

/** The parameters of a request, each of which was sent once. Empty ones count as absent (RFC 6749 section 3.1). */
export type Parameters = ReadonlyMap<string, string>;

const formType = "application/x-www-form-urlencoded";

/**
 * Reads a form body. Parameters that may come several times are joined by a space.
 * @throws OAuthError invalid_request: 415 for another media type; for a parameter that is repeated (RFC 6749 section 3.2)
 */
export async function readForm(
  request: OidcRequest,
  severalTimes: readonly string[] = [],
): Promise<Parameters> {
  const body = formOf(request, await request.text());
  const { parameters, repeated } = collect(body);
  const joined = severalTimes.filter((name) => repeated.delete(name));
  const [twice] = repeated;
  if (twice !== undefined) {
    const isName = /^[\w.-]{1,50}$/.test(twice);
    throw invalidRequest(`${isName ? `the parameter ${twice}` : "a parameter"} must be sent once`);
  }
  if (joined.length === 0) return parameters;
  const all = new URLSearchParams(body);
  return new Map([
    ...parameters,
    ...joined.map((name) => [name, all.getAll(name).join(" ")] as const),
  ]);
}

/** The text of a form body. @throws OAuthError invalid_request 415 for another media type */
export const readFormBody = async (request: OidcRequest): Promise<string> =>
  formOf(request, await request.text());

function formOf(request: OidcRequest, body: string): string {
  const type = (request.headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase();
  if (type !== formType) {
    if (body === "" && type === "") return "";
    throw new OAuthError("invalid_request", `the body must be ${formType}`, { status: 415 });
  }
  return body;
}

/** Parameters of query strings and form bodies, and the names of those that came more than once. */
export function collect(...encoded: string[]): { parameters: Parameters; repeated: Set<string> } {
  const parameters = new Map<string, string>();
  const empty = new Set<string>();
  const repeated = new Set<string>();
  for (const text of encoded) {
    // Several times as quick as its iterator, which makes a pair of each.
    new URLSearchParams(text).forEach((value, name) => {
      const isAgain = parameters.has(name);
      if (isAgain || empty.has(name)) repeated.add(name);
      if (value === "") empty.add(name);
      else if (!isAgain) parameters.set(name, value);
    });
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
