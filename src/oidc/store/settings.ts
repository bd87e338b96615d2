import type { FeatureReader } from "../../authz/ports.ts";
import type { Deps } from "../../projection/module.ts";
import { ownProjectReader } from "../../resources/instance/index.ts";
import type { Lifetimes, Settings } from "../core/ports.ts";

const minute = 60_000;
const hour = 60 * minute;

/** What counts where nothing is set (resources, `/oidc`). */
const lifetimes: Lifetimes = {
  accessTokenMs: 12 * hour,
  idTokenMs: 12 * hour,
  refreshTokenIdleMs: 720 * hour,
  refreshTokenMs: 2160 * hour,
  codeMs: minute,
};
const languages = ["en", "de", "fr", "it", "es", "pt", "nl", "pl", "cs", "sv", "ja", "zh"];

/** What the settings of an instance say to the provider. */
export function settingStore({
  db,
  features,
}: Pick<Deps, "db"> & { features: FeatureReader }): Settings {
  const ownProject = ownProjectReader(db);
  return {
    lifetimes: () => lifetimes,
    isTokenExchangeOn: ({ instanceId }) => features.isOn(instanceId, "oidc_token_exchange"),
    isImpersonationOn: () => false,
    uiLocales: () => languages,
    ownProjectId: ({ instanceId }) => ownProject(instanceId),
  };
}
