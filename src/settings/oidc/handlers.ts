import {
  ResolvedOIDCSettingsSchema,
  SetOIDCSettingsSchema,
} from "#gen/idsvc/settings/oidc/v3alpha/oidc_pb.ts";
import type { OIDCSettingsService } from "#gen/idsvc/settings/oidc/v3alpha/oidc_settings_service_pb.ts";
import type { Handlers } from "../../authz/service.ts";
import type { Deps } from "../../projection/module.ts";
import { settingsCalls } from "../object/calls.ts";
import { builtInTimes, oidcSettings } from "./oidc.ts";

export function oidcSettingsHandlers(deps: Deps): Handlers<typeof OIDCSettingsService> {
  const calls = settingsCalls(deps, oidcSettings, {
    set: SetOIDCSettingsSchema,
    resolved: ResolvedOIDCSettingsSchema,
    builtIn: builtInTimes,
  });
  return {
    setOIDCSettings: ({ settings }, scope) => calls.set(settings, scope),
    resolveOIDCSettings: (_, scope) => calls.resolve(scope),
  };
}
