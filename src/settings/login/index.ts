import { LoginSettingsService } from "#gen/idsvc/settings/login/v3alpha/login_settings_service_pb.ts";
import { service } from "../../authz/service.ts";
import type { Module } from "../../projection/module.ts";
import { loginSettingsAuthorize, loginSettingsHandlers } from "./handlers.ts";
import { loginSettings } from "./login.ts";

export { loginSettings };
export {
  firstLogin,
  type LoginPolicy,
  type LoginPolicyReader,
  loginSettingsReader,
  type SecondFactor,
  secondFactors,
  setFirstLogin,
} from "./login.ts";

/** How people log in. */
export const loginSettingsModule: Module = {
  events: [loginSettings.events],
  projections: [loginSettings.projection],
  services: (deps) => [
    service(LoginSettingsService, loginSettingsHandlers(deps), loginSettingsAuthorize(deps)),
  ],
};
