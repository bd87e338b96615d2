import type { TextSettingsService } from "#gen/idsvc/settings/text/v3alpha/text_settings_service_pb.ts";
import type { Handlers } from "../../authz/service.ts";
import type { Deps } from "../../projection/module.ts";

import { current } from "../../storage/read-cache.ts";
import { allLanguages, isLanguage } from "../../texts/languages.ts";
import { shippedTexts, textKeys } from "../../texts/texts.ts";
import { changeSettings, requireLevel, settingsChain } from "../object/contexts.ts";
import { inheritedFrom, toSettingsDetails } from "../object/convert.ts";
import { type Change, resolve } from "../object/settings.ts";
import { propertyOfText, requireText, textSettings } from "../policy/text.ts";
import { languageUnsupported } from "../policy/language.ts";

export function textSettingsHandlers(deps: Deps): Handlers<typeof TextSettingsService> {
  const chainOf = current(deps.db, settingsChain(deps.db, textSettings));

  return {
    async setTexts({ texts }, scope) {
      const wished: Record<string, Change> = {};
      for (const [at, { key, language, value }] of texts.entries()) {
        const set = value.case === "set" ? value.value : undefined;
        requireText(`texts[${at}]`, { key, language, set });
        wished[propertyOfText(language, key)] = set === undefined ? { reset: true } : { set };
      }
      const changed = await changeSettings(deps, textSettings, scope, wished);
      return { details: toSettingsDetails(changed) };
    },

    async resolveTexts({ language, keyPrefix }, scope) {
      requireLevel(textSettings, scope);
      const wanted = language === "" ? allLanguages : [language].filter(isLanguage);
      if (wanted.length === 0) {
        throw languageUnsupported(
          "language",
          language,
          `there are no texts in "${language}"; supported are ${allLanguages.join(", ")}`,
        );
      }
      const { context, instanceId } = scope;
      const chain = await chainOf(
        instanceId,
        context.type === "organization" ? context.organizationId : undefined,
      );
      const [own] = chain;
      const keys = textKeys.filter((key) => key.startsWith(keyPrefix)).toSorted();
      return {
        ...(own === undefined ? {} : { details: toSettingsDetails(own) }),
        texts: keys.flatMap((key) =>
          wanted.map((each) => {
            const shipped = shippedTexts(each)[key];
            const resolved = resolve(chain, propertyOfText(each, key), shipped);
            const value = String(resolved.value);
            return { key, language: each, value, ...inheritedFrom(resolved) };
          }),
        ),
      };
    },
  };
}
