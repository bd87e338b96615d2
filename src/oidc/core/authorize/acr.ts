import { type Parameters, words } from "../form.ts";
import type { AcrRequest, AuthorizationRequest, BrowserSession, ClaimsRequest } from "../ports.ts";
import { refuse } from "./refusal.ts";

const most = 20;

/**
 * What the client wants of the login: the values of the claim `acr` where it asks for them (OpenID Connect Core 1.0
 * section 5.5.1.1), else `acr_values`. Only the claim can be essential.
 */
export function acrRequestOf(
  parameters: Parameters,
  claims: ClaimsRequest | undefined,
): AcrRequest | undefined {
  const { essential, value, values } = Object(claims?.id_token?.["acr"]) as Record<string, unknown>;
  const named = [value, values].flat().filter((each) => typeof each === "string");
  const asked = named.length > 0 ? named : words(parameters.get("acr_values"));
  if (asked.length === 0) return undefined;
  return { values: asked.slice(0, most), isEssential: named.length > 0 && essential === true };
}

/** What tokens tell of a login: the first value that was asked for and is met, else all that it comes to. */
export function acrOf(
  { acr }: Pick<AuthorizationRequest, "acr">,
  { levels }: Pick<BrowserSession, "levels">,
): string | undefined {
  return acr?.values.find((each) => levels.includes(each)) ?? levels[0];
}

/** @throws unmet_authentication_requirements where the client would not do with less */
export function requireAcr(
  { acr }: Pick<AuthorizationRequest, "acr">,
  { levels }: Pick<BrowserSession, "levels">,
): void {
  if (acr?.isEssential !== true || acr.values.some((each) => levels.includes(each))) return;
  throw refuse("unmet_authentication_requirements", "the user cannot log in as strongly as asked");
}
