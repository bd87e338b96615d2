import type { Scope } from "../../authz/context.ts";
import { languageReader } from "../../settings/language/index.ts";
import type { Database } from "../../storage/database.ts";
import { type FormatEvent, eventFormatterIn } from "../../texts/event-texts.ts";
import { chooseLanguage } from "../../texts/languages.ts";

type Reader = Pick<Scope, "acceptLanguage" | "context" | "instanceId">;

/**
 * Says what happened in the first language of `Accept-Language` that there are texts in; else in the default language of
 * the instance, and for the log of the system in English.
 */
export function eventFormatter(db: Database): (reader: Reader) => Promise<FormatEvent> {
  const languages = languageReader(db);
  return async ({ acceptLanguage, context, instanceId }) => {
    const usual = context.type === "system" ? "en" : (await languages(instanceId)).default;
    return eventFormatterIn(chooseLanguage({ acceptLanguage, default: usual }));
  };
}
