import { PasswordSettingsService } from "#gen/idsvc/settings/password/v3alpha/password_settings_service_pb.ts";
import { settingsModule } from "../object/module.ts";
import { builtInPasswords } from "../policy/password.ts";
import { beginPasswords, passwordSettings } from "./password.ts";

export { passwordPolicyReader, passwordSettings } from "./password.ts";

/** What passwords must be like. */
export const passwordSettingsModule = settingsModule(
  PasswordSettingsService,
  passwordSettings,
  builtInPasswords,
  { begins: () => beginPasswords },
);
