import { IntlMessageFormat } from "intl-messageformat";
import { holdsLink, isMessageKey } from "./links.ts";
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

/** All texts there are. */
export const textKeys: readonly TextKey[] = Object.keys(en).filter(isTextKey);

/** What an owner has set in place of shipped texts: key to ICU message. */
export type OwnTexts = ReadonlyMap<string, string>;

const shipped: OwnTexts = new Map();
const compiled = new WeakMap<OwnTexts, Map<string, IntlMessageFormat>>();

/**
 * The texts of a language. What an owner has set in place of a shipped text is used unless it is no message, or wants a
 * value that the page does not have.
 */
export function texts(language: Language, own: OwnTexts = shipped): Translate {
  return (key, values) => {
    const set = own.get(key);
    if (set !== undefined) {
      try {
        const message = messageOf(own, language, key, set);
        if (!isMessageKey(key) || !holdsLink(message.getAst())) return say(message, values);
      } catch {
        // What is shipped can always be said.
      }
    }
    return say(messageOf(shipped, language, key, shippedTexts[language][key]), values);
  };
}

function messageOf(of: OwnTexts, language: Language, key: TextKey, text: string) {
  const known = compiled.get(of) ?? new Map<string, IntlMessageFormat>();
  compiled.set(of, known);
  const name = `${language} ${key}`;
  const message = known.get(name) ?? compile(language, text);
  known.set(name, message);
  return message;
}

/** What keeps a text from standing in for the one that is shipped under the key: nothing, or what is wrong with it. */
export function faultOfText(language: Language, key: TextKey, text: string): string | undefined {
  const given = new Set(namesIn(compile(language, shippedTexts[language][key]).getAst()));
  try {
    const parts = compile(language, text).getAst();
    if (isMessageKey(key) && holdsLink(parts)) {
      return "a message holds no address of the web: the service adds its own link; mail addresses may stand in it";
    }
    const stray = namesIn(parts).find((name) => !given.has(name));
    if (stray === undefined) return undefined;
    const names = [...given].map((name) => `{${name}}`).join(", ");
    return `it has no value for {${stray}}: it may name ${names === "" ? "no values" : names}`;
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    return `it is no ICU message (${cause}): braces stand in single quotes where they are meant as text`;
  }
}

// Of the kinds of parts the only one whose value is text.
const literal = 0;

type Part = ReturnType<IntlMessageFormat["getAst"]>[number];

/** The values that a message names. */
const namesIn = (parts: readonly Part[]): string[] =>
  parts.flatMap((part) => [
    ...("value" in part && Number(part.type) !== literal ? [part.value] : []),
    ...("options" in part
      ? Object.values(part.options).flatMap(({ value }) => namesIn(value))
      : []),
    ...("children" in part ? namesIn(part.children) : []),
  ]);

// Tags are text: markup is no part of a text.
const compile = (language: Language, text: string): IntlMessageFormat =>
  new IntlMessageFormat(text, language, undefined, { ignoreTag: true });

const say = (message: IntlMessageFormat, values?: TextValues): string =>
  String(message.format(values));
