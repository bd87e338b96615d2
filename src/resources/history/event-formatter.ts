import type { Scope } from "../../authz/context.ts";
import { languageReader } from "../../settings/policy/language.ts";
import type { Database } from "../../storage/database.ts";
import { type FormatEvent, eventFormatterIn } from "../../texts/event-texts.ts";
import { chooseLanguage, type Language } from "../../texts/languages.ts";

type Reader = Pick<Scope, "acceptLanguage" | "context" | "instanceId">;

/**
 * The language that a reader is told in what happened: the first of `Accept-Language` that there are texts in; else the default
 * language of the instance, and for the log of the system English.
 */
export function readerLanguage(db: Database): (reader: Reader) => Promise<Language> {
  const languages = languageReader(db);
  return async ({ acceptLanguage, context, instanceId }) => {
    const usual = context.type === "system" ? "en" : (await languages(instanceId)).default;
    return chooseLanguage({ acceptLanguage, default: usual });
  };
}

/** Says what happened, in the language of the reader. */
export function eventFormatter(db: Database): (reader: Reader) => Promise<FormatEvent> {
  const languageOf = readerLanguage(db);
  return async (reader) => eventFormatterIn(await languageOf(reader));
}
