import { Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { EgressError, systemCode } from "./error.ts";

/** Where names become addresses. What it answers is not trusted: the guard judges the addresses. */
export interface NameResolver {
  /** All addresses of a host; @throws EgressError dns when it has none. */
  addresses(name: string, signal: AbortSignal): Promise<string[]>;
  /** The TXT records of a name, each in one piece; none when the name is not there. @throws EgressError dns */
  texts(name: string, signal: AbortSignal): Promise<string[]>;
}

export type ResolverOptions = {
  /** Name servers as `address` or `address:port`; absent: those of the system. */
  servers?: string[];
  hostsFile?: string;
};

const attemptMs = 2_000;
const attempts = 2;
const lateFamilyMs = 200;
const notThere = new Set(["ENODATA", "ENOTFOUND"]);

/**
 * The names of the hosts file, then of the name servers. `localhost` and names below it are loopback (RFC 6761
 * section 6.3). Search domains are not tried: names are written in full.
 *
 * Not getaddrinfo, which runs on libuv's few threads: a name whose servers hang would hold up all other lookups.
 * A lookup has a resolver, and with it ports, of its own, and is given up when its signal fires.
 */
export function systemResolver(options: ResolverOptions = {}): NameResolver {
  const { servers, hostsFile = "/etc/hosts" } = options;

  async function ask<T>(signal: AbortSignal, query: (from: Resolver) => Promise<T>): Promise<T> {
    const resolver = new Resolver({ timeout: attemptMs, tries: attempts });
    if (servers !== undefined) resolver.setServers(servers);
    const cancel = () => resolver.cancel();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      return await query(resolver);
    } finally {
      signal.removeEventListener("abort", cancel);
      resolver.cancel();
    }
  }

  return {
    async addresses(name, signal) {
      const host = name.toLowerCase().replace(/\.$/, "");
      if (host === "localhost" || host.endsWith(".localhost")) return ["127.0.0.1", "::1"];
      const fixed = hostsNamed(host, await readFile(hostsFile, "utf8").catch(() => ""));
      if (fixed.length > 0) return fixed;
      return ask(signal, async (resolver) => {
        const v4 = resolver.resolve4(host);
        const v6 = resolver.resolve6(host);
        // Refused before the other is answered, when nobody waits for it yet.
        v6.catch(() => undefined);
        // Some servers never answer for IPv6: who has an address does not wait long for more.
        const v6InTime = v4.then(
          () => Promise.race([v6, delay(lateFamilyMs, [])]),
          () => v6,
        );
        const [four, six] = await Promise.allSettled([v4, v6InTime]);
        // IPv4 first: a host without a way out over IPv6 loses no time.
        const found = [four, six].flatMap((answer) =>
          answer.status === "fulfilled" ? answer.value : [],
        );
        if (found.length > 0) return found;
        const failed = four.status === "rejected" ? four.reason : undefined;
        throw new EgressError("dns", name, systemCode(failed));
      });
    },

    texts: (name, signal) =>
      ask(signal, async (resolver) => {
        try {
          const records = await resolver.resolveTxt(name);
          return records.map((pieces) => pieces.join(""));
        } catch (error) {
          const code = systemCode(error);
          if (notThere.has(code)) return [];
          throw new EgressError("dns", name, code);
        }
      }),
  };
}

/** The addresses that a file in the form of hosts(5) gives a name. */
function hostsNamed(host: string, file: string): string[] {
  return file.split("\n").flatMap((line) => {
    const [address = "", ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
    return isIP(address) !== 0 && names.some((name) => name.toLowerCase() === host)
      ? [address]
      : [];
  });
}
