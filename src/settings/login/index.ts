import { LoginSettingsService } from "#gen/idsvc/settings/login/v3alpha/login_settings_service_pb.ts";
import { settingsModule } from "../object/module.ts";
import { beginLogin, builtInLogin, loginSettings } from "./login.ts";

export { loginSettings };
export {
  firstLogin,
  type LoginPolicy,
  type LoginPolicyReader,
  loginSettingsReader,
  type SecondFactor,
  secondFactors,
} from "./login.ts";

/** How people log in. */
export const loginSettingsModule = settingsModule(
  LoginSettingsService,
  loginSettings,
  builtInLogin,
  { begins: () => beginLogin },
);
