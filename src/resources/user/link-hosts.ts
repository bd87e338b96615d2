import { pageAddress } from "../../authz/host.ts";
import type { Deps } from "../../projection/module.ts";
import { instanceReader } from "../instance/index.ts";

const loopback: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Whether the link of a message may lead to an address: the instance's own domains, and the hosts that its security settings
 * name. What apps register counts for nothing here: whoever may register one would be sent the codes (J9).
 */
export function linkHosts({ db, policies }: Pick<Deps, "db" | "policies">) {
  const instances = instanceReader(db);
  return async (instanceId: string, address: string): Promise<boolean> => {
    const page = pageAddress(address);
    if (page === undefined) return false;
    const { protocol, hostname, host } = page;
    if ((await instances.byDomain(hostname))?.id === instanceId) return true;
    if (protocol !== "https:" && !loopback.has(hostname)) return false;
    const { allowedLinkHosts } = await policies.security(instanceId);
    return allowedLinkHosts.includes(host);
  };
}
