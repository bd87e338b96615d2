import type { FeatureReader } from "../../authz/ports.ts";
import type { Database } from "../../storage/database.ts";
import { cachedRead } from "../../storage/read-cache.ts";
import {
  type ContextSettings,
  defineSettings,
  readSettings,
  resolve,
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

/** What counts where no context sets a flag; from the configuration (decisions B6). */
export type FeatureDefaults = Readonly<Record<Feature, boolean>>;

/** Feature flags, set for the system or for an instance. */
export const featureSettings = defineSettings("feature", ["system", "instance"], features);

/** The contexts whose flags count in an instance, nearest first; for the system only its own. */
export async function featureChain(
  db: Database,
  context: "system" | "instance",
  instanceId: string,
): Promise<ContextSettings[]> {
  const system = await readSettings(db, featureSettings.name, systemLog, systemOwner);
  if (context === "system") return [system];
  const owner = { type: "instance", id: instanceId } as const;
  return [await readSettings(db, featureSettings.name, instanceId, owner), system];
}

/** Whether flags are on, for the calls they guard. */
export function featureReader(db: Database, defaults: FeatureDefaults): FeatureReader {
  // A flag of the system counts in every instance: any instance's commit on the table makes the read anew.
  const read = cachedRead(db, [settingValues], async (_, key) => {
    const [instanceId = "", feature = ""] = key.split("/");
    const chain = await featureChain(db, "instance", instanceId);
    return resolve(chain, feature, Reflect.get(defaults, feature) === true).value === true;
  });
  return { isOn: (instanceId, feature) => read("", `${instanceId}/${feature}`) };
}
