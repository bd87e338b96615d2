import {
  ResolvedLoginSettingsSchema,
  SetLoginSettingsSchema,
} from "#gen/idsvc/settings/login/v3alpha/login_pb.ts";
import type { LoginSettingsService } from "#gen/idsvc/settings/login/v3alpha/login_settings_service_pb.ts";
import type { Authorize, Handlers } from "../../authz/service.ts";
import type { Deps } from "../../projection/module.ts";

import { settingsCalls } from "../object/calls.ts";
import { builtInLogin, loginSettings } from "./login.ts";

export function loginSettingsAuthorize(deps: Deps): Authorize<typeof LoginSettingsService> {
  const onContext = deps.tenancy.requireOnContext;
  return {
    setLoginSettings: onContext,
    resolveLoginSettings: onContext,
  };
}

export function loginSettingsHandlers(deps: Deps): Handlers<typeof LoginSettingsService> {
  const messages = {
    set: SetLoginSettingsSchema,
    resolved: ResolvedLoginSettingsSchema,
    builtIn: builtInLogin,
  };
  const calls = settingsCalls(deps, loginSettings, messages);
  return {
    setLoginSettings: ({ settings }, scope) => calls.set(settings, scope),
    resolveLoginSettings: (_, scope) => calls.resolve(scope),
  };
}
