import { invalidField } from "../../errors.ts";
import type { Database } from "../../storage/database.ts";
import { and, asc, desc, eq, or } from "../../storage/drizzle.ts";
import { cachedRead } from "../../storage/read-cache.ts";
import { isLanguage, type Language } from "../../texts/languages.ts";
import { faultOfText, isTextKey, type OwnTexts, type TextKey } from "../../texts/texts.ts";
import { settingsChain } from "../object/contexts.ts";
import { defineManySettings, settingValues } from "../object/settings.ts";
import { languageUnsupported } from "./language.ts";

/** Texts in the place of those that are shipped, set for an instance or for an organization (S4). */
export const textSettings = defineManySettings("text", ["instance", "org"]);

/** The name of a text among the settings. */
export const propertyOfText = (language: string, key: string): string => `${language}.${key}`;

/**
 * Refuses what could not stand in for a shipped text.
 *
 * @throws INVALID_ARGUMENT LANGUAGE_UNSUPPORTED, TEXT_KEY_UNKNOWN, TEXT_INVALID
 */
export function requireText(
  field: string,
  { language, key, set }: { language: string; key: string; set: string | undefined },
): void {
  requireLanguage(`${field}.language`, language);
  if (!isTextKey(key)) {
    throw invalidField(
      `${field}.key`,
      "TEXT_KEY_UNKNOWN",
      `there is no text "${key}": GET /settings/v3alpha/texts lists them all`,
      { metadata: { key } },
    );
  }
  if (set !== undefined) requireSayable(`${field}.set`, { language, key }, set);
}

/** @throws INVALID_ARGUMENT TEXT_INVALID for what could not be said in the place of the text */
export function requireSayable(
  field: string,
  { language, key }: { language: Language; key: TextKey },
  set: string,
): void {
  const fault = faultOfText(language, key, set);
  if (fault === undefined) return;
  throw invalidField(field, "TEXT_INVALID", `the text cannot be used: ${fault}`, {
    metadata: { language, key },
  });
}

/** @throws INVALID_ARGUMENT LANGUAGE_UNSUPPORTED */
export function requireLanguage(field: string, language: string): asserts language is Language {
  if (isLanguage(language)) return;
  throw languageUnsupported(
    field,
    language,
    `there are no texts in "${language}": take one of the supported languages of the language settings`,
  );
}

/** What is set in the place of shipped texts in an organization, or in the instance itself. Cached: a hit is no promise. */
export type TextReader = (
  instanceId: string,
  organizationId: string | undefined,
  language: Language,
) => Promise<OwnTexts>;

export function textReader(db: Database): TextReader {
  const chainOf = settingsChain(db, textSettings);
  const read = cachedRead(db, [settingValues], async (instanceId, organizationId) => {
    const chain = await chainOf(instanceId, organizationId);
    const byLanguage = new Map<string, Map<string, string>>();
    for (const { values } of chain.toReversed()) {
      for (const [property, value] of Object.entries(values)) {
        const [language, key] = namesOf(property);
        const known = byLanguage.get(language) ?? new Map<string, string>();
        byLanguage.set(language, known.set(key, String(value)));
      }
    }
    return byLanguage;
  });
  return async (instanceId, organizationId = "", language) =>
    (await read(instanceId, organizationId)).get(language) ?? none;
}

const none: OwnTexts = new Map();

/** A text that is set, and who set it. */
export type SetText = { key: string; value: string; setterId: string };

/** The texts that are set for an organization and for its instance, the organization's first. */
export function setTextsReader(db: Database) {
  const t = db.table(settingValues);
  const read = cachedRead(db, [settingValues], async (instanceId, organizationId) => {
    const rows = await db.read
      .select({ ownerType: t.ownerType, property: t.property, value: t.value, by: t.editorId })
      .from(t)
      .where(
        and(
          eq(t.instanceId, instanceId),
          eq(t.settingGroup, textSettings.name),
          or(
            and(eq(t.ownerType, "org"), eq(t.ownerId, organizationId)),
            and(eq(t.ownerType, "instance"), eq(t.ownerId, instanceId)),
          ),
        ),
      )
      .orderBy(desc(t.ownerType), asc(t.property));
    return Map.groupBy(
      rows.map(({ property, value, by }) => {
        const [language, key] = namesOf(property);
        return { language, key, value: String(value), setterId: by };
      }),
      ({ language }) => language,
    );
  });
  return async (
    { instanceId, organizationId }: { instanceId: string; organizationId: string },
    language: Language,
  ): Promise<readonly SetText[]> => (await read(instanceId, organizationId)).get(language) ?? [];
}

/** The language and the key of a text among the settings. */
export function namesOf(property: string): [language: string, key: string] {
  const at = property.indexOf(".");
  return [property.slice(0, at), property.slice(at + 1)];
}
