import { type Parameters, words } from "../form.ts";
import type { Prompt } from "../ports.ts";
import { refuse } from "./refusal.ts";

/** The values of `prompt` (OpenID Connect Core 1.0 section 3.1.2.1, Initiating User Registration 1.0). */
export const prompts = ["none", "login", "consent", "select_account", "create"] as const;

/** @throws invalid_request for an unknown value, and for `none` beside another one */
export function promptOf(parameters: Parameters): Prompt[] {
  const asked = words(parameters.get("prompt")).map((word): Prompt => {
    const known = prompts.find((prompt) => prompt === word);
    if (known !== undefined) return known;
    throw refuse("invalid_request", `prompt must be of ${prompts.join(", ")}`);
  });
  if (asked.includes("none") && asked.length > 1) {
    throw refuse("invalid_request", "prompt none stands alone");
  }
  return asked;
}
