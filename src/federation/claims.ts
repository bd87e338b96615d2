import type { ExternalIdentity } from "./provider.ts";

type Raw = Record<string, unknown>;

/** A text that says something; numbers, which some use as ids, count as texts. */
export const textOf = (value: unknown): string | undefined => {
  if (typeof value === "number" && Number.isSafeInteger(value)) return String(value);
  if (typeof value !== "string") return undefined;
  const text = value.trim();
  return text === "" || text.length > longest ? undefined : text;
};
const longest = 2_000;

/** Leaves out what nobody said. */
export const said = <T extends Record<string, unknown>>(
  all: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as never;

/** Whether something is verified; undefined where nothing is said of it. */
export const markOf = (value: unknown, isTrue = value === true): boolean | undefined =>
  value === undefined || value === null ? undefined : isTrue;

/** The standard claims (OpenID Connect Core 5.1), which most providers follow. */
export const fromClaims = (id: string, raw: Raw): ExternalIdentity => ({
  id,
  ...said({
    username: textOf(raw["preferred_username"]),
    email: textOf(raw["email"]),
    firstName: textOf(raw["given_name"]),
    lastName: textOf(raw["family_name"]),
    displayName: textOf(raw["name"]),
    nickName: textOf(raw["nickname"]),
    preferredLanguage: textOf(raw["locale"]),
    phone: textOf(raw["phone_number"]),
    avatarUrl: textOf(raw["picture"]),
    profile: textOf(raw["profile"]),
  }),
  ...said({
    isEmailVerified: markOf(raw["email_verified"]),
    isPhoneVerified: markOf(raw["phone_number_verified"]),
  }),
  raw,
});

/** First and last name of a whole one, where a provider has only that. */
export function splitName(name: string | undefined): { firstName?: string; lastName?: string } {
  const [firstName, ...others] = name?.split(/\s+/) ?? [];
  const lastName = others.join(" ");
  return said({ firstName, lastName: lastName === "" ? undefined : lastName });
}
