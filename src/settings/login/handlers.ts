import {
  ResolvedLoginSettingsSchema,
  SetLoginSettingsSchema,
} from "#gen/idsvc/settings/login/v3alpha/login_pb.ts";
import type { LoginSettingsService } from "#gen/idsvc/settings/login/v3alpha/login_settings_service_pb.ts";
import type { Authorize, Handlers } from "../../authz/service.ts";
import type { Deps } from "../../projection/module.ts";
import { permissionMissing, requireContext, requireOnContext } from "../../resources/org/index.ts";
import { settingsCalls } from "../object/calls.ts";
import { builtInLogin, loginSettings } from "./login.ts";

export function loginSettingsAuthorize(deps: Deps): Authorize<typeof LoginSettingsService> {
  const onContext = requireOnContext(deps);
  return {
    async setLoginSettings(request, scope) {
      await onContext(request, scope);
      const { context, permissions, policy } = scope;
      if (context.type !== "organization" || request.settings?.validateOrgDomains === undefined) {
        return;
      }
      // Else an organization would say itself that it has nothing to prove.
      if (!permissions.holds(policy.onInstance, { type: "instance" })) {
        throw permissionMissing(policy.onInstance);
      }
    },
    resolveLoginSettings: onContext,
  };
}

export function loginSettingsHandlers(deps: Deps): Handlers<typeof LoginSettingsService> {
  const messages = {
    set: SetLoginSettingsSchema,
    resolved: ResolvedLoginSettingsSchema,
    builtIn: builtInLogin,
  };
  const calls = settingsCalls(deps, loginSettings, messages, requireContext);
  return {
    setLoginSettings: ({ settings }, scope) => calls.set(settings, scope),
    resolveLoginSettings: (_, scope) => calls.resolve(scope),
  };
}
