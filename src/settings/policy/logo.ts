import type { Database } from "../../storage/database.ts";
import { and, eq } from "../../storage/drizzle.ts";
import { bytes, table, text } from "../../storage/table.ts";
import type { SettingValue } from "../object/settings.ts";

/**
 * The logos themselves, at most one of each property in a context. An event tells only what was set, by its digest: streams stay
 * short, however often somebody changes a logo. So these are no projections: what was replaced is gone.
 */
const logosNamed = (name: string) =>
  table(
    name,
    {
      instanceId: text(),
      ownerType: text(),
      ownerId: text(),
      digest: text(),
      mediaType: text(),
      content: bytes(),
    },
    {
      key: ["instanceId", "ownerType", "ownerId"],
      indexes: [{ columns: ["instanceId", "digest"] }],
    },
  );

/** By the property that they are set by. */
export const logos = {
  logo: logosNamed("branding_logos"),
  logo_dark: logosNamed("branding_dark_logos"),
} as const;

export type LogoProperty = keyof typeof logos;
export const logoProperties: readonly LogoProperty[] = ["logo", "logo_dark"];

export type Logo = { mediaType: string; bytes: Uint8Array };

/** Where the logo of a digest (SHA-256, base64url) is served on every host of its instance. */
export const logoPath = (digest: string): string => `/ui/logos/${digest}`;

/** What the setting holds: media type and digest; nothing where no logo is set. */
export function partsOf(value: SettingValue): { mediaType: string; digest: string } | undefined {
  const [mediaType = "", digest = ""] = String(value).split(" ");
  return digest === "" ? undefined : { mediaType, digest };
}

/** Reads a logo of the instance by its digest; equal files of several contexts are one. */
export function logoReader(db: Database) {
  const tables = logoProperties.map((property) => db.table(logos[property]));
  return async (instanceId: string, digest: string): Promise<Logo | undefined> => {
    await db.catchUp();
    for (const t of tables) {
      const [row] = await db.read
        .select({ mediaType: t.mediaType, bytes: t.content })
        .from(t)
        .where(and(eq(t.instanceId, instanceId), eq(t.digest, digest)))
        .limit(1);
      if (row !== undefined) return row;
    }
    return undefined;
  };
}
