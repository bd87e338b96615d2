import en from "./events/en.json" with { type: "json" };
import type { Language } from "./languages.ts";

/** What each event is called. The English texts tell which there are: a language that lacks one does not compile. */
export type EventTexts = Readonly<Record<keyof typeof en, string>>;

/** Says what happened, by the name of the event. A name of another release, which has no text, is said as it is. */
export type FormatEvent = (type: string) => string;

type Load = () => Promise<{ default: EventTexts }>;

// Hardly ever is more than one of them read, so each is loaded by the first who reads it.
const loads: Readonly<Record<Language, Load>> = {
  en: async () => ({ default: en }),
  de: () => import("./events/de.json", { with: { type: "json" } }),
  fr: () => import("./events/fr.json", { with: { type: "json" } }),
  it: () => import("./events/it.json", { with: { type: "json" } }),
  es: () => import("./events/es.json", { with: { type: "json" } }),
  pt: () => import("./events/pt.json", { with: { type: "json" } }),
  nl: () => import("./events/nl.json", { with: { type: "json" } }),
  pl: () => import("./events/pl.json", { with: { type: "json" } }),
  cs: () => import("./events/cs.json", { with: { type: "json" } }),
  sv: () => import("./events/sv.json", { with: { type: "json" } }),
  ja: () => import("./events/ja.json", { with: { type: "json" } }),
  zh: () => import("./events/zh.json", { with: { type: "json" } }),
};

const hasText = (type: string): type is keyof EventTexts => Object.hasOwn(en, type);

/** All texts of a language. */
export const eventTexts = async (language: Language): Promise<EventTexts> =>
  (await loads[language]()).default;

export async function eventFormatterIn(language: Language): Promise<FormatEvent> {
  const texts = await eventTexts(language);
  return (type) => (hasText(type) ? texts[type] : type);
}
