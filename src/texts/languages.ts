import Negotiator from "negotiator";

/** The languages of the pages, each by its own name. All are written from left to right. */
export const languages = {
  en: "English",
  de: "Deutsch",
  fr: "Français",
  it: "Italiano",
  es: "Español",
  pt: "Português",
  nl: "Nederlands",
  pl: "Polski",
  cs: "Čeština",
  sv: "Svenska",
  ja: "日本語",
  zh: "中文",
} as const;

export type Language = keyof typeof languages;

export const isLanguage = (text: string): text is Language => Object.hasOwn(languages, text);

export const allLanguages: readonly Language[] = Object.keys(languages).filter(isLanguage);

export type Wishes = {
  /** `ui_locales` of the request: tags in order of preference, with spaces between. */
  uiLocales?: string | undefined;
  /** What the user has chosen before. */
  cookie?: string | undefined;
  acceptLanguage?: string | undefined;
  /** Languages that the instance allows; without any, all are. */
  allowed?: readonly Language[];
  default: Language;
};

/**
 * The first wish that can be met: of the request, of the user, of the browser; else the default. A region counts for its
 * language (`de-CH` is German). What is no language tag is no wish.
 */
export function chooseLanguage(wishes: Wishes): Language {
  const allowed = wishes.allowed?.length ? wishes.allowed : allLanguages;
  const headers = { "accept-language": wishes.acceptLanguage };
  const browser = wishes.acceptLanguage ? new Negotiator({ headers }).languages() : [];
  const tags = [...(wishes.uiLocales?.split(/\s+/) ?? []), wishes.cookie ?? "", ...browser];
  for (const tag of tags) {
    if (tag === "*") return wishes.default;
    const [language = ""] = tag.toLowerCase().split("-");
    if (isLanguage(language) && allowed.includes(language)) return language;
  }
  return wishes.default;
}
