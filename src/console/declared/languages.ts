import { LanguageService } from "#gen/idsvc/settings/language/v3alpha/language_service_pb.ts";

/** The languages that there are, to choose from. */
export const supportedLanguages = {
  method: LanguageService.method.resolveLanguages,
  request: () => ({}),
  rows: "settings.supported_languages.value",
  value: "key",
} as const;
