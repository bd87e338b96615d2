import en from "./events/en.json" with { type: "json" };
import type { Language } from "./languages.ts";
import resourceEvents from "./resource-events.json" with { type: "json" };
import resourceNames from "./resource-names.json" with { type: "json" };

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

type Forms = Readonly<Record<string, string>>;
// What declared resources are called, by the prefix of their events: in each language the name, under the form of words
// that it takes (its gender; `any` where there is one form alone).
const names: Readonly<Record<string, Readonly<Record<Language, Forms>>>> = resourceNames;
const happenings: Readonly<Record<Language, Readonly<Record<string, Forms>>>> = resourceEvents;

/** The texts that a language has of its own; those of declared resources follow from their names. */
export const eventTexts = async (language: Language): Promise<EventTexts> =>
  (await loads[language]()).default;

/** Which resources have a name, by the prefix of their events. */
export const namedResources = (): string[] => Object.keys(names);

export async function eventFormatterIn(language: Language): Promise<FormatEvent> {
  const texts = await eventTexts(language);
  return (type) => (hasText(type) ? texts[type] : (textOfResource(language, type) ?? type));
}

/** What happened to a declared resource: `target.added`. */
function textOfResource(language: Language, type: string): string | undefined {
  const end = type.lastIndexOf(".");
  const [prefix, happening] = [type.slice(0, end), type.slice(end + 1)];
  if (!Object.hasOwn(names, prefix) || !Object.hasOwn(happenings[language], happening)) {
    return undefined;
  }
  const [form = "", name = ""] = Object.entries(names[prefix]?.[language] ?? {})[0] ?? [];
  return happenings[language][happening]?.[form]?.replace("{}", name);
}
