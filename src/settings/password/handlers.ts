import {
  ResolvedPasswordSettingsSchema,
  SetPasswordSettingsSchema,
} from "#gen/idsvc/settings/password/v3alpha/password_pb.ts";
import type { PasswordSettingsService } from "#gen/idsvc/settings/password/v3alpha/password_settings_service_pb.ts";
import type { Handlers } from "../../authz/service.ts";
import type { Deps } from "../../projection/module.ts";

import { settingsCalls } from "../object/calls.ts";
import { builtInPasswords, passwordSettings } from "./password.ts";

export function passwordSettingsHandlers(deps: Deps): Handlers<typeof PasswordSettingsService> {
  const messages = {
    set: SetPasswordSettingsSchema,
    resolved: ResolvedPasswordSettingsSchema,
    builtIn: builtInPasswords,
  };
  const calls = settingsCalls(deps, passwordSettings, messages);
  return {
    setPasswordSettings: ({ settings }, scope) => calls.set(settings, scope),
    resolvePasswordSettings: (_, scope) => calls.resolve(scope),
  };
}
