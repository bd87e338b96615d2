import { PasswordSettingsService } from "#gen/idsvc/settings/password/v3alpha/password_settings_service_pb.ts";
import { service } from "../../authz/service.ts";
import type { Module } from "../../projection/module.ts";

import { passwordSettingsHandlers } from "./handlers.ts";
import { passwordSettings } from "./password.ts";

export { passwordSettings };
export {
  firstPasswordPolicy,
  type PasswordPolicy,
  type PasswordPolicyReader,
  passwordPolicyReader,
  setFirstPasswords,
} from "./password.ts";

/** What passwords must be like. */
export const passwordSettingsModule: Module = {
  events: [passwordSettings.events],
  projections: [passwordSettings.projection],
  services: (deps) => {
    const check = deps.tenancy.requireOnContext;
    return [
      service(PasswordSettingsService, passwordSettingsHandlers(deps), {
        setPasswordSettings: check,
        resolvePasswordSettings: check,
      }),
    ];
  },
};
