import { LoginSettingsService } from "#gen/idsvc/settings/login/v3alpha/login_settings_service_pb.ts";
import type { Begin } from "../../projection/module.ts";
import { setFirst } from "../object/contexts.ts";
import { settingsModule } from "../object/module.ts";
import { builtInLogin, firstLogin, loginSettings } from "../policy/login.ts";

const beginLogin: Begin = (tx, { id, isLocal }) =>
  setFirst(tx, loginSettings, id, firstLogin(isLocal));

/** How people log in. */
export const loginSettingsModule = settingsModule(
  LoginSettingsService,
  loginSettings,
  builtInLogin,
  { begins: () => beginLogin },
);
