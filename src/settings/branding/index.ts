import { BrandingSettingsService } from "#gen/idsvc/settings/branding/v3alpha/branding_settings_service_pb.ts";

import { settingsModule } from "../object/module.ts";
import { brandingSettings, builtInBranding } from "./branding.ts";
import { logoCalls } from "./handlers.ts";
import { logos, removeContentsOfBranding } from "./logo.ts";

export { brandingSettings };
export { type Branding, brandingReader, shippedBranding, type Theme } from "./branding.ts";
export { mediaTypeOf } from "./image.ts";
export { type Colours, paletteOf } from "./palette.ts";
export { type Logo, logoPath, logoReader } from "./logo.ts";

/** How the pages of the login look. */
export const brandingSettingsModule = settingsModule(
  BrandingSettingsService,
  brandingSettings,
  builtInBranding,
  { calls: logoCalls, state: Object.values(logos), contents: removeContentsOfBranding },
);
