import type { FeatureReader } from "../../authz/ports.ts";
import type { Database } from "../../storage/database.ts";
import { cachedRead } from "../../storage/read-cache.ts";
import {
  type ContextSettings,
  defineSettings,
  readSettings,
  resolve,
  settingContexts,
  settingValues,
  systemLog,
  systemOwner,
} from "../object/settings.ts";

export const features = [
  "multitenancy_resources_api",
  "multitenancy_settings",
  "oidc_token_exchange",
] as const;
export type Feature = (typeof features)[number];

/** What counts where no context sets a flag; from the configuration (B6). */
export type FeatureDefaults = Readonly<Record<Feature, boolean>>;

/** Feature flags, set for the system or for an instance. */
export const featureSettings = defineSettings("feature", ["system", "instance"], features);

/** Gives the contexts whose flags count, nearest first; for the system only its own. */
export type FeatureChain = (
  context: "system" | "instance",
  instanceId: string,
) => Promise<readonly ContextSettings[]>;

export function featureChain(db: Database): FeatureChain {
  // What the system sets counts in every instance: any commit on the tables makes the reads anew.
  const read = cachedRead(db, [settingValues, settingContexts], (_, instanceId) =>
    instanceId === systemLog
      ? readSettings(db, featureSettings.name, systemLog, systemOwner)
      : readSettings(db, featureSettings.name, instanceId, { type: "instance", id: instanceId }),
  );
  return async (context, instanceId) => {
    const system = await read("", systemLog);
    return context === "system" ? [system] : [await read("", instanceId), system];
  };
}

/** Whether flags are on, for the calls they guard. */
export function featureReader(db: Database, defaults: FeatureDefaults): FeatureReader {
  const chainOf = featureChain(db);
  const read = cachedRead(db, [settingValues], async (_, key) => {
    const [instanceId = "", feature = ""] = key.split("/");
    const chain = await chainOf("instance", instanceId);
    return resolve(chain, feature, Reflect.get(defaults, feature) === true).value === true;
  });
  return { isOn: (instanceId, feature) => read("", `${instanceId}/${feature}`) };
}
