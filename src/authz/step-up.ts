import { type DomainError, unauthenticated } from "../errors.ts";
import type { Strength } from "./context.ts";

export type { Strength };

/** From the strongest to the weakest; a recovery code counts as the strongest (L2). */
export const strengths: readonly Strength[] = ["passkey", "mfa", "password", "provider", "email"];

/** What an authentication of a strength is called in `acr_values` and in the claim `acr`. */
export const acrOf = (strength: Strength): string => `urn:idsvc:acr:${strength}`;

/** What a value of `acr_values` asks for; undefined for one that is not ours. */
export const strengthOf = (acr: string): Strength | undefined =>
  strengths.find((each) => acrOf(each) === acr);

/** How a request bears on step-up: not at all, it needs it, or it gives the password, which its handler checks. */
export type StepUpNeed = "none" | "proven" | "passwordGiven";

/**
 * Tells who calls to prove themselves again.
 *
 * Source: RFC 9470 section 3. The same facts stand in the metadata of the error, for protocols without the header.
 */
export function stepUpRequired(needed: Strength, maxAgeSeconds: number): DomainError {
  const facts = { max_age: String(maxAgeSeconds), acr_values: acrOf(needed) };
  const description = "a more recent and stronger authentication is needed";
  const parameters = [
    `error="insufficient_user_authentication"`,
    `error_description="${description}"`,
    ...Object.entries(facts).map(([name, value]) => `${name}="${value}"`),
  ];
  return unauthenticated(
    "STEP_UP_REQUIRED",
    "prove who you are again, by the strongest factor that you have: log in with `max_age=0` and call with the new token",
    { metadata: facts, headers: { "www-authenticate": `Bearer ${parameters.join(", ")}` } },
  );
}
