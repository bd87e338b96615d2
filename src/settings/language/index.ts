import { LanguageService } from "#gen/idsvc/settings/language/v3alpha/language_service_pb.ts";
import { service } from "../../authz/service.ts";
import type { Begin, Module } from "../../projection/module.ts";
import { languageAuthorize, languageHandlers } from "./handlers.ts";
import { setFirst } from "../object/contexts.ts";
import { builtInLanguages, languageSettings } from "../policy/language.ts";

/** The built-in language needs no saying. */
const beginLanguage: Begin = (tx, { id, defaultLanguage }) => {
  if (defaultLanguage === builtInLanguages.default_language) return;
  setFirst(tx, languageSettings, id, { default_language: defaultLanguage });
};

/** In which languages people are met (specification 4.2). */
export const languageModule: Module = {
  events: [languageSettings.events],
  projections: [languageSettings.projection],
  begins: () => beginLanguage,
  services: (deps) => [service(LanguageService, languageHandlers(deps), languageAuthorize(deps))],
};
