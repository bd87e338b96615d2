import { PasswordSettingsService } from "#gen/idsvc/settings/password/v3alpha/password_settings_service_pb.ts";

import { settingsModule } from "../object/module.ts";
import { builtInPasswords, passwordSettings } from "./password.ts";

export { passwordSettings };
export {
  firstPasswordPolicy,
  type PasswordPolicy,
  type PasswordPolicyReader,
  passwordPolicyReader,
  setFirstPasswords,
} from "./password.ts";

/** What passwords must be like. */
export const passwordSettingsModule = settingsModule(
  PasswordSettingsService,
  passwordSettings,
  builtInPasswords,
);
