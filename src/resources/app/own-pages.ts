import type { Database } from "../../storage/database.ts";
import { instanceReader } from "../instance/index.ts";
import { appReader } from "./readers.ts";

/**
 * Whether an address leads to the service itself, or to an origin that an active app of the instance has: only there are
 * codes and proofs of a login given to a browser, or written into a mail (D54).
 */
export function ownPages(db: Database) {
  const apps = appReader(db);
  const instances = instanceReader(db);
  return async (instanceId: string, address: string): Promise<boolean> => {
    if (!URL.canParse(address)) return false;
    const { protocol, hostname, origin, username, password } = new URL(address);
    if (!["http:", "https:"].includes(protocol) || username !== "" || password !== "") return false;
    const own = await instances.byDomain(hostname);
    return own?.id === instanceId || apps.isAllowedOrigin(instanceId, origin);
  };
}
