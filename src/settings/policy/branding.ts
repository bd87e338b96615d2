import type { Database } from "../../storage/database.ts";
import { type SettingsReader, settingsReader } from "../object/contexts.ts";
import { defineSettings, type SettingValue } from "../object/settings.ts";
import { type Logo, logoPath, logoReader, partsOf } from "./logo.ts";

export const themes = ["auto", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

/** What counts where no context sets a property. An empty colour is left to the login, as no logo is. */
export const builtInBranding = {
  product_name: "idsvc",
  primary_color: "",
  background_color: "",
  theme: "auto",
  logo: "",
  logo_dark: "",
} satisfies Record<string, SettingValue>;

/** How the pages of the login look, set for an instance or for an organization. */
export const brandingSettings = defineSettings(
  "branding",
  ["instance", "org"],
  Object.keys(builtInBranding),
);

export type Branding = {
  productName: string;
  /** `#rrggbb`, or empty. */
  primaryColor: string;
  backgroundColor: string;
  theme: Theme;
  logo?: SetLogo;
  /** In the place of `logo` on dark pages. */
  logoDark?: SetLogo;
};

type SetLogo = {
  mediaType: string;
  /** Changes with the logo. */
  etag: string;
  /** Where it is served on every host of the instance. */
  path: string;
  /** Reads it now; undefined when it was replaced since. */
  read(): Promise<Logo | undefined>;
};

/** How the pages look where nothing is set. */
export const shippedBranding: Omit<Branding, "logo" | "logoDark"> = {
  productName: builtInBranding.product_name,
  primaryColor: builtInBranding.primary_color,
  backgroundColor: builtInBranding.background_color,
  theme: "auto",
};

/** How the pages look: of an organization, or of the instance where none is known. The logo itself is read on demand. */
export function brandingReader(db: Database): SettingsReader<Branding> {
  const readLogo = logoReader(db);
  return settingsReader(db, brandingSettings, builtInBranding, (value, instanceId): Branding => {
    const [logo, logoDark] = [of(value("logo")), of(value("logo_dark"))];
    const theme = value("theme");
    return {
      productName: String(value("product_name")),
      primaryColor: String(value("primary_color")),
      backgroundColor: String(value("background_color")),
      theme: themes.find((each) => each === theme) ?? "auto",
      ...(logo && { logo }),
      ...(logoDark && { logoDark }),
    };

    function of(set: SettingValue): SetLogo | undefined {
      const parts = partsOf(set);
      if (parts === undefined) return undefined;
      const { mediaType, digest: etag } = parts;
      return { mediaType, etag, path: logoPath(etag), read: () => readLogo(instanceId, etag) };
    }
  });
}
