import {
  ResolvedBrandingSettingsSchema,
  SetBrandingSettingsSchema,
} from "#gen/idsvc/settings/branding/v3alpha/branding_pb.ts";
import type { BrandingSettingsService } from "#gen/idsvc/settings/branding/v3alpha/branding_settings_service_pb.ts";
import type { SetBytes } from "#gen/idsvc/settings/object/v3alpha/object_pb.ts";
import type { Handlers } from "../../authz/service.ts";
import type { Deps } from "../../projection/module.ts";

import { settingsCalls } from "../object/calls.ts";
import { brandingSettings, builtInBranding } from "./branding.ts";
import { keepLogo, logoProperties, toResolvedLogo, wishOf } from "./logo.ts";

export function brandingSettingsHandlers(deps: Deps): Handlers<typeof BrandingSettingsService> {
  const messages = {
    set: SetBrandingSettingsSchema,
    resolved: ResolvedBrandingSettingsSchema,
    builtIn: builtInBranding,
    ownTypes: Object.fromEntries(
      logoProperties.map((property) => [
        property,
        {
          wish: (setter: unknown) => wishOf(property, setter as SetBytes | undefined),
          tell: toResolvedLogo,
        },
      ]),
    ),
  };
  const calls = settingsCalls(deps, brandingSettings, messages, async (tx, scope, asked) => {
    const { logo, logoDark } = asked.settings ?? {};
    if (asked.changed.has("logo")) keepLogo(tx, scope, "logo", logo);
    if (asked.changed.has("logo_dark")) keepLogo(tx, scope, "logo_dark", logoDark);
  });
  return {
    setBrandingSettings: ({ settings }, scope) => calls.set(settings, scope),
    resolveBrandingSettings: (_, scope) => calls.resolve(scope),
  };
}
