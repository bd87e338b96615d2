import type { Language } from "../texts/languages.ts";
import { texts } from "../texts/texts.ts";

/** What a passkey is called of which nobody was asked for a name. */
export const usualPasskeyName = (language: Language): string =>
  texts(language)("passkey.usualName");
