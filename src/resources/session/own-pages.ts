import { pageAddress } from "../../authz/host.ts";
import type { Deps } from "../../projection/module.ts";
import { instanceReader } from "../instance/index.ts";

/**
 * Whether an address leads to the service itself, or to an origin that an active app of the instance has: only there are
 * codes and proofs of a login given to a browser, or written into a mail (D54).
 */
export function ownPages({ db, apps }: Pick<Deps, "db" | "apps">) {
  const instances = instanceReader(db);
  return async (instanceId: string, address: string): Promise<boolean> => {
    const page = pageAddress(address);
    if (page === undefined) return false;
    const own = await instances.byDomain(page.hostname);
    return own?.id === instanceId || apps.isAllowedOrigin(instanceId, page.origin);
  };
}
