import { OIDCSettingsService } from "#gen/idsvc/settings/oidc/v3alpha/oidc_settings_service_pb.ts";
import { settingsModule } from "../object/module.ts";
import { builtInTimes, oidcSettings } from "./oidc.ts";

export { oidcSettingsReader, rotationTimes } from "./oidc.ts";

/** How long what the OpenID Provider issues is valid. */
export const oidcSettingsModule = settingsModule(OIDCSettingsService, oidcSettings, builtInTimes);
