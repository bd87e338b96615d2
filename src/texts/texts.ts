import { createRequire } from "node:module";
import type * as Formatter from "intl-messageformat";
import { holdsLink, isMessageKey } from "./links.ts";
import type { Language } from "./languages.ts";
import en from "./en.json" with { type: "json" };

export type TextKey = keyof typeof en;
export type TextValues = Record<string, string | number>;
export type Translate = (key: TextKey, values?: TextValues) => string;

type Shipped = Record<TextKey, string>;

/** The files of languages beside English. One that lacks a text does not compile. */
type Files = Complete<{
  de: typeof import("./de.json");
  fr: typeof import("./fr.json");
  it: typeof import("./it.json");
  es: typeof import("./es.json");
  pt: typeof import("./pt.json");
  nl: typeof import("./nl.json");
  pl: typeof import("./pl.json");
  cs: typeof import("./cs.json");
  sv: typeof import("./sv.json");
  ja: typeof import("./ja.json");
  zh: typeof import("./zh.json");
}>;
type Complete<F extends Record<Exclude<Language, "en">, Shipped>> = F;

const load = createRequire(import.meta.url);
const fileOf = <L extends keyof Files>(language: L): Files[L] => load(`./${language}.json`);
type Message = Formatter.IntlMessageFormat;
const formatter = (): typeof Formatter => load("intl-messageformat");

/** The texts that are shipped, as ICU messages. Few services speak more than two languages: each is loaded when it is first read. */
export const shippedTexts = (language: Language): Readonly<Shipped> =>
  language === "en" ? en : fileOf(language);

export const isTextKey = (text: string): text is TextKey => Object.hasOwn(en, text);

/** All texts there are. */
export const textKeys: readonly TextKey[] = Object.keys(en).filter(isTextKey);

/** What an owner has set in place of shipped texts: key to ICU message. */
export type OwnTexts = ReadonlyMap<string, string>;

const shipped: OwnTexts = new Map();
const compiled = new WeakMap<OwnTexts, Map<string, Message>>();

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
    return say(messageOf(shipped, language, key, shippedTexts(language)[key]), values);
  };
}

function messageOf(of: OwnTexts, language: Language, key: TextKey, text: string) {
  const known = compiled.get(of) ?? new Map<string, Message>();
  compiled.set(of, known);
  const name = `${language} ${key}`;
  const message = known.get(name) ?? compile(language, text);
  known.set(name, message);
  return message;
}

/** What keeps a text from standing in for the one that is shipped under the key: nothing, or what is wrong with it. */
export function faultOfText(language: Language, key: TextKey, text: string): string | undefined {
  const given = new Set(namesIn(compile(language, shippedTexts(language)[key]).getAst()));
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

type Part = ReturnType<Message["getAst"]>[number];

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
const compile = (language: Language, text: string): Message =>
  new (formatter().IntlMessageFormat)(text, language, undefined, { ignoreTag: true });

const say = (message: Message, values?: TextValues): string => String(message.format(values));
