import { SecuritySettingsService } from "#gen/idsvc/settings/security/v3alpha/security_settings_service_pb.ts";
import { service } from "../../authz/service.ts";
import type { Module } from "../../projection/module.ts";
import { securitySettingsHandlers } from "./handlers.ts";
import { securitySettings } from "./security.ts";

export { allowsImpersonation, type SecurityPolicy, securitySettingsReader } from "./security.ts";

/** What an instance allows that is forbidden by default. */
export const securitySettingsModule: Module = {
  events: [securitySettings.events],
  projections: [securitySettings.projection],
  services: (deps) => {
    const check = deps.tenancy.requireOnContext;
    return [
      service(SecuritySettingsService, securitySettingsHandlers(deps), {
        setSecuritySettings: check,
        resolveSecuritySettings: check,
      }),
    ];
  },
};
