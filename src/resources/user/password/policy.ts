import type { Awaitable } from "../../../awaitable.ts";
import {
  type DomainError,
  type FieldViolation,
  invalidArgument,
  invalidField,
} from "../../../errors.ts";
import type { PasswordPolicy } from "../../../authz/policies.ts";
import { caseFold } from "../../../storage/case-fold.ts";
import type { User } from "../user.ts";
import { isCommonPassword } from "./common.ts";

type Shortcoming = { rule: string; reason: string; description: string };

// A shorter name stands in words that have nothing to do with it: it only does not count.
const least = 4;
const leastRest = 8;
const shortestWord = 3;
const product = "idsvc";

/**
 * Refuses a password that is not as the policy wants it, with everything that it lacks at once.
 *
 * @throws INVALID_ARGUMENT PASSWORD_POLICY; `missing` in the metadata holds the properties of the password settings that
 * it does not meet
 * @param isBreached asked only where nothing else is wrong
 */
export async function requirePolicy(
  policy: PasswordPolicy,
  password: string,
  user: Pick<User, "username" | "email" | "data">,
  field: string,
  isBreached: (password: string) => Awaitable<boolean> = () => false,
): Promise<void> {
  const text = password.normalize("NFC");
  const lacking = shortcomings(policy, text);
  if (policy.blocklist && isGuessable(text, user)) {
    lacking.push({
      rule: "blocklist",
      reason: "PASSWORD_GUESSABLE",
      description: "is a common password, or holds what is known of the user: choose another one",
    });
  }
  // What is refused anyway is told to nobody outside.
  if (lacking.length === 0 && policy.screenPasswords && (await isBreached(password))) {
    lacking.push({
      rule: "screen_passwords",
      reason: "PASSWORD_BREACHED",
      description: "is known from a breach, here or elsewhere: choose another one",
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

type Known = Pick<User, "username" | "email" | "data">;

/** Whether it is common, holds a name, the mail address or the login name of the user, or is made of nothing else. */
function isGuessable(password: string, user: Known): boolean {
  const folded = caseFold(password);
  const isNamed = namesOf(user).some((name) => [...name].length >= least && folded.includes(name));
  return (
    isNamed || restWithout(folded, contextWords(user)) < leastRest || isCommonPassword(password)
  );
}

/** What a user is called, the mail address and the login name without what stands behind the `@` too; folded. */
function namesOf({ username, email, data }: Known): string[] {
  const names = ["given_name", "family_name", "middle_name", "display_name", "nickname", "name"];
  const said = names.map((name) => data[name]).filter((value) => typeof value === "string");
  const logins = [username, email?.address ?? ""];
  return [...said, ...logins, ...logins.map((name) => name.replace(/@.*$/su, ""))].map(caseFold);
}

/** Names of the user and of the service, whole and in their parts. */
function contextWords(user: Known): string[] {
  const all = [caseFold(product), ...namesOf(user)];
  const parts = all.flatMap((word) => word.split(/[^\p{L}\p{N}]+/u));
  const words = new Set([...all, ...parts].filter((word) => [...word].length >= shortestWord));
  // The longest first: what is part of another must not spoil it.
  return [...words].toSorted((a, b) => b.length - a.length);
}

/** How many characters are left of a password without these words: they do not count. */
function restWithout(folded: string, words: string[]): number {
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
