import en from "./console/en.json" with { type: "json" };
import type { Language } from "./languages.ts";

/** The words of the console. The English ones tell which there are: a language that lacks one does not compile. */
export type ConsoleTexts = Readonly<Record<keyof typeof en, string>>;

type Load = () => Promise<{ default: ConsoleTexts }>;

const loads: Readonly<Record<Language, Load>> = {
  en: async () => ({ default: en }),
  de: () => import("./console/de.json", { with: { type: "json" } }),
  fr: () => import("./console/fr.json", { with: { type: "json" } }),
  it: () => import("./console/it.json", { with: { type: "json" } }),
  es: () => import("./console/es.json", { with: { type: "json" } }),
  pt: () => import("./console/pt.json", { with: { type: "json" } }),
  nl: () => import("./console/nl.json", { with: { type: "json" } }),
  pl: () => import("./console/pl.json", { with: { type: "json" } }),
  cs: () => import("./console/cs.json", { with: { type: "json" } }),
  sv: () => import("./console/sv.json", { with: { type: "json" } }),
  ja: () => import("./console/ja.json", { with: { type: "json" } }),
  zh: () => import("./console/zh.json", { with: { type: "json" } }),
};

export const consoleTexts = async (language: Language): Promise<ConsoleTexts> =>
  (await loads[language]()).default;
