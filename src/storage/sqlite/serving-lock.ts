import Sqlite from "better-sqlite3";
import { failedPrecondition } from "../../errors.ts";
import { isBusy } from "./errors.ts";

/**
 * Lets one process at a time serve a store: a lock of the operating system on a file beside it, which goes with the process however it
 * ends. The file stays and says nothing by being there. Commands that read and write the store beside the service take no such lock.
 *
 * @throws FAILED_PRECONDITION STORE_SERVED
 */
export function takeServingLock(path: string): Disposable {
  const lock = new Sqlite(`${path}-serving`);
  try {
    lock.pragma("journal_mode = MEMORY", { simple: true });
    lock.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    lock.close();
    if (!isBusy(error)) throw error;
    throw failedPrecondition(
      "STORE_SERVED",
      `the store ${path} is served by another process: stop that one first, or use PostgreSQL (IDSVC_DATABASE_URL), which several processes serve`,
      { cause: error },
    );
  }
  return { [Symbol.dispose]: () => void lock.close() };
}
