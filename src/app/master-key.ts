import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newSealingKey, type SealingKey } from "../crypto/secrets.ts";
import { failedPrecondition } from "../errors.ts";
import type { Config } from "./config.ts";
import { masterKeyRule } from "./config.ts";

const fileName = "master.key";
const masterKeyId = "master:1";

/**
 * The key that wraps all others: from the configuration, else from the data folder, where it is made with a new store
 * if the service is only for this machine (decisions H2). A store that holds something never gets another key.
 *
 * @throws MASTER_KEY_REQUIRED, MASTER_KEY_MISSING, MASTER_KEY_UNREADABLE
 */
export function masterKey(config: Config, isNewStore: boolean): SealingKey {
  masterKeyRule(config);
  if (config.masterKey !== undefined) return { id: masterKeyId, key: config.masterKey };
  const path = join(config.dataDir, fileName);
  if (!existsSync(path)) {
    if (!isNewStore) {
      throw failedPrecondition(
        "MASTER_KEY_MISSING",
        `the master key of this store is gone: put ${path} back, or give the key by IDSVC_MASTER_KEY`,
      );
    }
    makeKeyFile(path);
  }
  const key = Buffer.from(readFileSync(path, "utf8").trim(), "base64");
  if (key.length !== 32) {
    throw failedPrecondition(
      "MASTER_KEY_UNREADABLE",
      `${path} must hold 32 bytes in base64: put the file back that the store was made with`,
    );
  }
  return { id: masterKeyId, key };
}

/** The file is whole and on disk before anything is sealed with it; of two processes, the first one's key counts. */
function makeKeyFile(path: string): void {
  const { key } = newSealingKey(masterKeyId);
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${Buffer.from(key).toString("base64")}\n`, { mode: 0o600, flush: true });
  try {
    linkSync(draft, path);
  } catch (error) {
    if (!existsSync(path)) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}
