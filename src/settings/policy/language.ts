import { invalidField } from "../../errors.ts";
import type { Database } from "../../storage/database.ts";
import { type SettingsReader, settingsReader } from "../object/contexts.ts";
import { allLanguages, isLanguage, type Language } from "../../texts/languages.ts";
import { textsOf } from "../object/convert.ts";
import {
  type Change,
  defineSettings,
  type SettingValue,
  type SetValues,
} from "../object/settings.ts";

/** The languages in which the login and its mails are shipped, complete (S2). */
export const supportedLanguages: readonly Language[] = allLanguages;

/** What counts where no context sets a property; no list is no restriction. */
export const builtInLanguages = {
  default_language: "en",
  restricted_languages: [],
} as const satisfies Record<string, SettingValue | readonly []>;

/** Languages, set for an instance or for an organization (specification 2.5). */
export const languageSettings = defineSettings(
  "language",
  ["instance", "org"],
  Object.keys(builtInLanguages),
);

export type Languages = { default: Language; allowed: readonly Language[] };

/** The languages where nothing is set. */
export const shippedLanguages: Languages = {
  default: builtInLanguages.default_language,
  allowed: supportedLanguages,
};

/**
 * The languages that may be offered, and the one where nobody asks for any of them. The default is always allowed: one that
 * a parent context has shut out since gives way to the first of its list.
 */
export const languageReader = (db: Database): SettingsReader<Languages> =>
  settingsReader(db, languageSettings, builtInLanguages, (value): Languages => {
    const restricted = textsOf(value("restricted_languages")).filter(isLanguage);
    const allowed = restricted.length === 0 ? supportedLanguages : restricted;
    const wanted = allowed.find((language) => language === value("default_language"));
    return { default: wanted ?? allowed[0] ?? builtInLanguages.default_language, allowed };
  });

/** @throws INVALID_ARGUMENT LANGUAGE_UNSUPPORTED */
export function requireSupported(keys: readonly string[], field: string): void {
  const language = keys.find((key) => !supportedLanguages.some((each) => each === key));
  if (language === undefined) return;
  const supported = supportedLanguages.join(", ");
  throw languageUnsupported(
    field,
    language,
    `"${language}" is not supported; supported are ${supported}`,
  );
}

export const languageUnsupported = (field: string, language: string, description: string) =>
  invalidField(field, "LANGUAGE_UNSUPPORTED", description, { metadata: { language } });

/**
 * Refuses a default language that the restriction shuts out, once what is wished holds.
 *
 * @param set what is set now, the nearest context first
 * @throws INVALID_ARGUMENT LANGUAGE_NOT_ALLOWED
 */
export function requireFitting(
  [own = {}, ...parents]: readonly SetValues[],
  wished: Readonly<Record<string, Change>>,
): void {
  const valueOf = (property: keyof typeof builtInLanguages): SettingValue => {
    const wish = wished[property];
    if (wish !== undefined && "set" in wish) return wish.set;
    const chain = wish === undefined ? [own, ...parents] : parents;
    return chain.find((values) => property in values)?.[property] ?? builtInLanguages[property];
  };
  const restricted = textsOf(valueOf("restricted_languages"));
  const language = String(valueOf("default_language"));
  if (restricted.length === 0 || restricted.includes(language)) return;
  const restricts = wished["restricted_languages"] !== undefined;
  throw invalidField(
    restricts ? "settings.restricted_languages" : "settings.default_language",
    "LANGUAGE_NOT_ALLOWED",
    `the default language "${language}" is not among the allowed ones (${restricted.join(", ")}): choose both so that it is`,
    { metadata: { language } },
  );
}
