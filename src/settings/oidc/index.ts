import { OIDCSettingsService } from "#gen/idsvc/settings/oidc/v3alpha/oidc_settings_service_pb.ts";
import { service } from "../../authz/service.ts";
import type { Module } from "../../projection/module.ts";
import { oidcSettingsHandlers } from "./handlers.ts";
import { oidcSettings } from "./oidc.ts";

export { oidcSettingsReader, type OidcTimes, rotationTimes } from "./oidc.ts";

/** How long what the OpenID Provider issues is valid. */
export const oidcSettingsModule: Module = {
  events: [oidcSettings.events],
  projections: [oidcSettings.projection],
  services: (deps) => {
    const check = deps.tenancy.requireOnContext;
    return [
      service(OIDCSettingsService, oidcSettingsHandlers(deps), {
        setOIDCSettings: check,
        resolveOIDCSettings: check,
      }),
    ];
  },
};
