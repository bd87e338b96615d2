import { whenKnown } from "../../awaitable.ts";
import type { OidcTimes, PolicyReader } from "../../authz/policies.ts";
import type { FeatureReader } from "../../authz/ports.ts";
import type { Deps } from "../../projection/module.ts";
import { ownProjectReader } from "../../resources/instance/index.ts";
import { languageReader } from "../../settings/policy/language.ts";
import type { Settings } from "../core/settings-ports.ts";

export type SettingPorts = { timesOf: PolicyReader<OidcTimes> };

/** What the settings of an instance say to the provider. */
export function settingStore({
  db,
  features,
  policies,
  timesOf,
}: Pick<Deps, "db" | "policies"> & SettingPorts & { features: FeatureReader }): Settings {
  const ownProject = ownProjectReader(db);
  const languages = languageReader(db);
  return {
    lifetimes: ({ instanceId }, organizationId) =>
      whenKnown(timesOf(instanceId, organizationId), (of) => ({
        accessTokenMs: of.accessTokenLifetimeMs,
        idTokenMs: of.idTokenLifetimeMs,
        refreshTokenIdleMs: of.refreshTokenIdleMs,
        refreshTokenMs: of.refreshTokenMs,
        codeMs: of.codeLifetimeMs,
      })),
    isTokenExchangeOn: ({ instanceId }) => features.isOn(instanceId, "oidc_token_exchange"),
    async isImpersonationOn({ instanceId }, organizationIds) {
      for (const organizationId of organizationIds) {
        if (!(await policies.security(instanceId, organizationId)).enableImpersonation)
          return false;
      }
      return true;
    },
    uiLocales: ({ instanceId }) => whenKnown(languages(instanceId), ({ allowed }) => allowed),
    ownProjectId: ({ instanceId }) => ownProject(instanceId),
  };
}
