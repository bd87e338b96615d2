import { randomBytes } from "node:crypto";
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { failedPrecondition } from "../errors.ts";
import { type MasterKeys, rewrapInstanceKeys, toMasterKey } from "../eventstore/master-keys.ts";
import { type Config, masterKeyRule } from "./config.ts";
import type { Kernel } from "./kernel.ts";

const fileName = "master.key";
const keyLength = 32;

/**
 * The keys that wrap all others: from the configuration, else from the data folder, where one is made with a new store
 * if the service is only for this machine (H2). A store that holds something never gets another key.
 *
 * @throws MASTER_KEY_REQUIRED, MASTER_KEY_MISSING, MASTER_KEY_UNREADABLE
 */
export function masterKeys(config: Config, isNewStore: boolean): MasterKeys {
  masterKeyRule(config);
  const { masterKeyPrevious: previous } = config;
  return {
    current: toMasterKey(config.masterKey ?? storedKey(config, isNewStore)),
    ...(previous === undefined ? {} : { previous: toMasterKey(previous) }),
  };
}

/** Wraps the keys of all instances under the current master key; services may run. Gives how many were not yet. */
export const rotateMasterKey = ({ db, masterKeys: keys }: Kernel): Promise<number> =>
  rewrapInstanceKeys(db, keys);

function storedKey({ dataDir }: Config, isNewStore: boolean): Uint8Array {
  const path = join(dataDir, fileName);
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
  if (key.length !== keyLength) {
    throw failedPrecondition(
      "MASTER_KEY_UNREADABLE",
      `${path} must hold 32 bytes in base64: put the file back that the store was made with`,
    );
  }
  return key;
}

/** The file is whole and on disk before anything is sealed with it; of two processes, the first one's key counts. */
function makeKeyFile(path: string): void {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${randomBytes(keyLength).toString("base64")}\n`, {
    mode: 0o600,
    flush: true,
  });
  try {
    linkSync(draft, path);
  } catch (error) {
    if (!existsSync(path)) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}
