import Negotiator from "negotiator";
import cs from "./texts/cs.json" with { type: "json" };
import de from "./texts/de.json" with { type: "json" };
import en from "./texts/en.json" with { type: "json" };
import es from "./texts/es.json" with { type: "json" };
import fr from "./texts/fr.json" with { type: "json" };
import it from "./texts/it.json" with { type: "json" };
import ja from "./texts/ja.json" with { type: "json" };
import nl from "./texts/nl.json" with { type: "json" };
import pl from "./texts/pl.json" with { type: "json" };
import pt from "./texts/pt.json" with { type: "json" };
import sv from "./texts/sv.json" with { type: "json" };
import zh from "./texts/zh.json" with { type: "json" };

/** What the events of a project grant say. A language that lacks one does not compile. */
export const changeTexts: Readonly<Record<string, Record<keyof typeof en, string>>> = {
  ...{ en, de, fr, it, es, pt, nl, pl, cs, sv, ja, zh },
};

const isKnown = (type: string): type is keyof typeof en => Object.hasOwn(en, type);

/** The text of an event in the first language that the reader accepts and that is there; else in English. */
export function changeText(type: string, acceptLanguage: string | undefined): string {
  if (!isKnown(type)) return type;
  const headers = { "accept-language": acceptLanguage };
  const wished = acceptLanguage === undefined ? [] : new Negotiator({ headers }).languages();
  for (const tag of wished) {
    const [language = ""] = tag.toLowerCase().split("-");
    const found = Object.hasOwn(changeTexts, language) ? changeTexts[language] : undefined;
    if (found !== undefined) return found[type];
  }
  return en[type];
}
