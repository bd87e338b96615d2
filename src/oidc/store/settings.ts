import { whenKnown } from "../../awaitable.ts";
import type { FeatureReader } from "../../authz/ports.ts";
import type { Deps } from "../../projection/module.ts";
import { ownProjectReader } from "../../resources/instance/index.ts";
import { languageReader } from "../../settings/language/index.ts";
import { oidcSettingsReader } from "../../settings/oidc/index.ts";
import { securitySettingsReader } from "../../settings/security/index.ts";
import type { Settings } from "../core/settings-ports.ts";

/** What the settings of an instance say to the provider. */
export function settingStore({
  db,
  features,
}: Pick<Deps, "db"> & { features: FeatureReader }): Settings {
  const ownProject = ownProjectReader(db);
  const times = oidcSettingsReader(db);
  const security = securitySettingsReader(db);
  const languages = languageReader(db);
  return {
    lifetimes: ({ instanceId }, organizationId) =>
      whenKnown(times(instanceId, organizationId), (of) => ({
        accessTokenMs: of.accessTokenLifetimeMs,
        idTokenMs: of.idTokenLifetimeMs,
        refreshTokenIdleMs: of.refreshTokenIdleMs,
        refreshTokenMs: of.refreshTokenMs,
        codeMs: of.codeLifetimeMs,
      })),
    isTokenExchangeOn: ({ instanceId }) => features.isOn(instanceId, "oidc_token_exchange"),
    async isImpersonationOn({ instanceId }, organizationIds) {
      for (const organizationId of organizationIds) {
        if (!(await security(instanceId, organizationId)).enableImpersonation) return false;
      }
      return true;
    },
    uiLocales: ({ instanceId }) => whenKnown(languages(instanceId), ({ allowed }) => allowed),
    ownProjectId: ({ instanceId }) => ownProject(instanceId),
  };
}
