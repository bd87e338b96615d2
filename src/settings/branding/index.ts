import { BrandingSettingsService } from "#gen/idsvc/settings/branding/v3alpha/branding_settings_service_pb.ts";

import { settingsModule } from "../object/module.ts";
import { brandingSettings, builtInBranding } from "../policy/branding.ts";
import { logoCalls } from "./handlers.ts";
import { logos } from "../policy/logo.ts";
import { removeContentsOfBranding } from "./logo.ts";

/** How the pages of the login look. */
export const brandingSettingsModule = settingsModule(
  BrandingSettingsService,
  brandingSettings,
  builtInBranding,
  { calls: logoCalls, state: Object.values(logos), contents: removeContentsOfBranding },
);
