import type { Parameters } from "../form.ts";
import type { ClaimsRequest } from "../ports.ts";
import { refuse } from "./refusal.ts";

const longest = 10_000;

/** The `claims` parameter (OpenID Connect Core 1.0 section 5.5). @throws invalid_request for what is no such object */
export function claimsRequestOf(parameters: Parameters): ClaimsRequest | undefined {
  const sent = parameters.get("claims");
  if (sent === undefined) return undefined;
  const claims = sent.length > longest ? undefined : read(sent);
  if (claims === undefined) {
    throw refuse("invalid_request", "claims must be a JSON object with userinfo or id_token");
  }
  return { userinfo: asObject(claims["userinfo"]), id_token: asObject(claims["id_token"]) };
}

function read(json: string): Record<string, unknown> | undefined {
  try {
    return asObject(JSON.parse(json));
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const asObject = (value: unknown) => (isObject(value) ? value : undefined);
