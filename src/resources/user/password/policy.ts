import {
  type DomainError,
  type FieldViolation,
  invalidArgument,
  invalidField,
} from "../../../errors.ts";
import type { PasswordPolicy } from "../../../settings/password/index.ts";
import { caseFold } from "../../../storage/case-fold.ts";
import type { User } from "../user.ts";
import { isCommonPassword } from "./common.ts";

type Shortcoming = { rule: string; reason: string; description: string };

const least = 8;
const shortestWord = 3;
const product = "idsvc";

/**
 * Refuses a password that is not as the policy wants it, with everything that it lacks at once.
 *
 * @throws INVALID_ARGUMENT PASSWORD_POLICY; `missing` in the metadata holds the properties of the password settings that
 * it does not meet
 */
export async function requirePolicy(
  policy: PasswordPolicy,
  password: string,
  user: Pick<User, "username" | "email" | "data">,
  field: string,
): Promise<void> {
  const text = password.normalize("NFC");
  const lacking = shortcomings(policy, text);
  if (
    policy.blocklist &&
    (restWithout(text, contextWords(user)) < least || (await isCommonPassword(text)))
  ) {
    lacking.push({
      rule: "blocklist",
      reason: "PASSWORD_GUESSABLE",
      description: "is a common password, or made of what is known of the user: choose another one",
    });
  }
  if (lacking.length > 0) throw refusal(lacking, policy, field);
}

function shortcomings(policy: PasswordPolicy, password: string): Shortcoming[] {
  const { minLength } = policy;
  const rules: [isMet: boolean, Shortcoming][] = [
    [
      [...password].length >= minLength,
      {
        rule: "min_length",
        reason: "PASSWORD_TOO_SHORT",
        description: `must have at least ${minLength} characters`,
      },
    ],
    [!policy.requiresUppercase || /\p{Lu}/u.test(password), needs("uppercase", "a capital letter")],
    [!policy.requiresLowercase || /\p{Ll}/u.test(password), needs("lowercase", "a small letter")],
    [!policy.requiresNumber || /\p{Nd}/u.test(password), needs("number", "a digit")],
    [!policy.requiresSymbol || /[^\p{L}\p{N}\s]/u.test(password), needs("symbol", "a symbol")],
  ];
  return rules.flatMap(([isMet, shortcoming]) => (isMet ? [] : [shortcoming]));
}

const needs = (what: string, article: string): Shortcoming => ({
  rule: `requires_${what}`,
  reason: `PASSWORD_NEEDS_${what.toUpperCase()}`,
  description: `must have ${article}`,
});

/** Names of the user and of the service, whole and in their parts. */
function contextWords({
  username,
  email,
  data,
}: Pick<User, "username" | "email" | "data">): string[] {
  const names = ["given_name", "family_name", "middle_name", "display_name", "nickname", "name"];
  const said = names.map((name) => data[name]).filter((value) => typeof value === "string");
  const all = [product, username, email?.address ?? "", ...said].map(caseFold);
  const parts = all.flatMap((word) => word.split(/[^\p{L}\p{N}]+/u));
  const words = new Set([...all, ...parts].filter((word) => [...word].length >= shortestWord));
  // The longest first: what is part of another must not spoil it.
  return [...words].toSorted((a, b) => b.length - a.length);
}

/** How many characters are left of a password without these words: they do not count. */
function restWithout(password: string, words: string[]): number {
  const folded = caseFold(password);
  const rest = words.reduce((text, word) => text.replaceAll(word, ""), folded);
  return rest === folded ? Infinity : [...rest].length;
}

function refusal(lacking: Shortcoming[], policy: PasswordPolicy, field: string): DomainError {
  const violations: FieldViolation[] = lacking.map(({ reason, description }) => ({
    field,
    reason,
    description,
  }));
  const said = lacking.map(({ description }) => description).join("; ");
  return invalidArgument("PASSWORD_POLICY", `${field}: ${said}`, {
    violations,
    metadata: {
      missing: lacking.map(({ rule }) => rule).join(","),
      min_length: String(policy.minLength),
    },
  });
}

/** Tells as little as it can: what was wrong is not said. */
export const invalidCredentials = (field: string, description: string) =>
  invalidField(field, "INVALID_CREDENTIALS", description);
