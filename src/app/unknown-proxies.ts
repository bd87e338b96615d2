import type { BlockList } from "node:net";
import { trustedIn } from "../api/proxy.ts";
import { parseNetwork } from "../egress/url-guard.ts";
import type { Concern } from "../projection/module.ts";
import type { Database } from "../storage/database.ts";
import { storeFacts } from "../storage/kernel-tables.ts";
import { deleteRows, putRow, type RowChange } from "../storage/row-change.ts";
import type { Kernel } from "./kernel.ts";

type Parts = Pick<Kernel, "db" | "now" | "logger"> & {
  config: Pick<Kernel["config"], "trustedProxies">;
};

const prefix = "proxy_seen:";
// Addresses of containers come and go.
const longestDays = 30;
const mostNoted = 20;
const advice =
  "send headers of proxies, and none is trusted there: if they are proxies, set IDSVC_TRUSTED_PROXIES, or all their clients count as one";

/** Networks whose headers are believed. */
export const trustedNetworks = ({ trustedProxies }: Parts["config"]): BlockList[] =>
  trustedProxies.map(parseNetwork).filter((each) => each !== undefined);

/**
 * Remembers in the store, once a process, that an address in a private network sends headers of proxies although it is no
 * trusted one (J12): most likely a proxy that nobody configured. `tell` is for whoever sees such a request.
 */
export async function watchForProxies(parts: Parts): Promise<{ tell: (address: string) => void }> {
  const { db, now, logger } = parts;
  const { seen, outdated } = await read(parts);
  await commit(
    db,
    outdated.map((name) => deleteRows(storeFacts, { name })),
  );
  if (seen.length > 0) logger.warn({ addresses: seen }, `addresses ${advice}`);
  const logged = new Set<string>();
  return {
    tell(address) {
      if (logged.has(address) || logged.size === mostNoted) return;
      logged.add(address);
      if (!seen.includes(address)) logger.warn({ addresses: [address] }, `addresses ${advice}`);
      const value = Buffer.from(now().toISOString());
      commit(db, [putRow(storeFacts, { name: prefix + address, value })]).catch((err: unknown) =>
        logger.warn({ err }, "it cannot be remembered that a proxy was seen"),
      );
    },
  };
}

/** What `idsvc doctor` tells of them. */
export async function proxyConcern(parts: Parts): Promise<Concern> {
  const { seen } = await read(parts);
  return {
    name: "unconfigured_proxies",
    text: `addresses in private networks ${advice}`,
    count: seen.length,
    some: seen.slice(0, mostNoted),
  };
}

async function read({ db, now, config }: Parts): Promise<{ seen: string[]; outdated: string[] }> {
  const isTrusted = trustedIn(trustedNetworks(config));
  const oldest = now().getTime() - longestDays * 24 * 3_600_000;
  const t = db.table(storeFacts);
  const facts = (await db.read.select().from(t)).filter(({ name }) => name.startsWith(prefix));
  const found = facts.map(({ name, value }) => ({
    name,
    address: name.slice(prefix.length),
    isOld: Date.parse(Buffer.from(value).toString()) < oldest,
  }));
  return {
    seen: found
      .filter(({ address, isOld }) => !isOld && !isTrusted(address))
      .map((one) => one.address),
    outdated: found.filter(({ isOld }) => isOld).map(({ name }) => name),
  };
}

async function commit(db: Database, changes: RowChange[]): Promise<void> {
  if (changes.length === 0) return;
  await db.commit({ instanceId: "", expect: [], claims: [], events: [], changes });
}
