import { IntlMessageFormat } from "intl-messageformat";
import type { Language } from "./languages.ts";
import cs from "./cs.json" with { type: "json" };
import de from "./de.json" with { type: "json" };
import en from "./en.json" with { type: "json" };
import es from "./es.json" with { type: "json" };
import fr from "./fr.json" with { type: "json" };
import it from "./it.json" with { type: "json" };
import ja from "./ja.json" with { type: "json" };
import nl from "./nl.json" with { type: "json" };
import pl from "./pl.json" with { type: "json" };
import pt from "./pt.json" with { type: "json" };
import sv from "./sv.json" with { type: "json" };
import zh from "./zh.json" with { type: "json" };

export type TextKey = keyof typeof en;
export type TextValues = Record<string, string | number>;
export type Translate = (key: TextKey, values?: TextValues) => string;

/** The texts that are shipped, as ICU messages. A language that lacks one does not compile. */
export const shippedTexts: Record<Language, Record<TextKey, string>> = {
  en,
  de,
  fr,
  it,
  es,
  pt,
  nl,
  pl,
  cs,
  sv,
  ja,
  zh,
};

export const isTextKey = (text: string): text is TextKey => Object.hasOwn(en, text);

const compiled = new Map<string, IntlMessageFormat>();

/**
 * The texts of a language. What an owner has set in place of a shipped text (key to ICU message) is used unless it is
 * no message, or wants a value that the page does not have.
 */
export function texts(language: Language, set?: ReadonlyMap<string, string>): Translate {
  return (key, values) => {
    const own = set?.get(key);
    const shipped = () => say(shippedMessage(language, key), values);
    if (own === undefined) return shipped();
    try {
      return say(compile(language, own), values);
    } catch {
      return shipped();
    }
  };
}

function shippedMessage(language: Language, key: TextKey): IntlMessageFormat {
  const name = `${language} ${key}`;
  const known = compiled.get(name);
  if (known !== undefined) return known;
  const message = compile(language, shippedTexts[language][key]);
  compiled.set(name, message);
  return message;
}

// Tags are text: markup is no part of a text.
const compile = (language: Language, text: string): IntlMessageFormat =>
  new IntlMessageFormat(text, language, undefined, { ignoreTag: true });

const say = (message: IntlMessageFormat, values?: TextValues): string =>
  String(message.format(values));
