import {
  ResolvedSecuritySettingsSchema,
  SetSecuritySettingsSchema,
} from "#gen/idsvc/settings/security/v3alpha/security_pb.ts";
import type { SecuritySettingsService } from "#gen/idsvc/settings/security/v3alpha/security_settings_service_pb.ts";
import type { Handlers } from "../../authz/service.ts";
import type { Deps } from "../../projection/module.ts";
import { settingsCalls } from "../object/calls.ts";
import { builtInSecurity, securitySettings } from "./security.ts";

export function securitySettingsHandlers(deps: Deps): Handlers<typeof SecuritySettingsService> {
  const calls = settingsCalls(deps, securitySettings, {
    set: SetSecuritySettingsSchema,
    resolved: ResolvedSecuritySettingsSchema,
    builtIn: builtInSecurity,
  });
  return {
    setSecuritySettings: ({ settings }, scope) => calls.set(settings, scope),
    resolveSecuritySettings: (_, scope) => calls.resolve(scope),
  };
}
