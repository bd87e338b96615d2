import { LanguageService } from "#gen/idsvc/settings/language/v3alpha/language_service_pb.ts";
import { service } from "../../authz/service.ts";
import type { Module } from "../../projection/module.ts";
import { languageAuthorize, languageHandlers } from "./handlers.ts";
import { languageSettings } from "./language.ts";

export {
  languageUnsupported,
  languageReader,
  type Languages,
  requireSupported,
  setFirstLanguage,
  shippedLanguages,
  supportedLanguages,
} from "./language.ts";

/** In which languages people are met (specification 4.2). */
export const languageModule: Module = {
  events: [languageSettings.events],
  projections: [languageSettings.projection],
  services: (deps) => [service(LanguageService, languageHandlers(deps), languageAuthorize(deps))],
};
