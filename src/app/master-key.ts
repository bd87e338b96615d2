import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newSealingKey, type SealingKey } from "../crypto/secrets.ts";
import type { Config } from "./config.ts";
import { masterKeyRule } from "./config.ts";

const fileName = "master.key";
const masterKeyId = "master:1";

/**
 * The key that wraps all others: from the configuration, else from the data folder, where it is made at the first
 * start if the service is only for this machine (decisions H2).
 */
export function masterKey(config: Config): SealingKey {
  masterKeyRule(config);
  if (config.masterKey !== undefined) return { id: masterKeyId, key: config.masterKey };
  const path = join(config.dataDir, fileName);
  if (!existsSync(path)) {
    const { key } = newSealingKey(masterKeyId);
    writeFileSync(path, `${Buffer.from(key).toString("base64")}\n`, { mode: 0o600, flag: "wx" });
  }
  const key = Buffer.from(readFileSync(path, "utf8").trim(), "base64");
  return { id: masterKeyId, key };
}
