import { BrandingSettingsService } from "#gen/idsvc/settings/branding/v3alpha/branding_settings_service_pb.ts";
import { service } from "../../authz/service.ts";
import type { Module } from "../../projection/module.ts";

import { brandingSettings } from "./branding.ts";
import { brandingSettingsHandlers } from "./handlers.ts";
import { logos, removeContentsOfBranding } from "./logo.ts";

export { brandingSettings };
export { type Branding, brandingReader, shippedBranding, type Theme } from "./branding.ts";
export { mediaTypeOf } from "./image.ts";
export { type Colours, paletteOf } from "./palette.ts";
export { type Logo, logoPath, logoReader } from "./logo.ts";

/** How the pages of the login look. */
export const brandingSettingsModule: Module = {
  events: [brandingSettings.events],
  projections: [brandingSettings.projection],
  state: Object.values(logos),
  services: (deps) => {
    const check = deps.tenancy.requireOnContext;
    return [
      service(BrandingSettingsService, brandingSettingsHandlers(deps), {
        setBrandingSettings: check,
        resolveBrandingSettings: check,
      }),
    ];
  },
  contents: removeContentsOfBranding,
};
