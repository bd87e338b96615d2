import { SecuritySettingsService } from "#gen/idsvc/settings/security/v3alpha/security_settings_service_pb.ts";
import { settingsModule } from "../object/module.ts";
import { builtInSecurity, securitySettings } from "./security.ts";

export { allowsImpersonation, securitySettingsReader } from "./security.ts";

/** What an instance allows that is forbidden by default. */
export const securitySettingsModule = settingsModule(
  SecuritySettingsService,
  securitySettings,
  builtInSecurity,
);
