import type { Cluster } from "../support/postgres-cluster.ts";
import { query } from "./store.ts";

/** How often a server has flushed its log, of all sessions that have ended; with `fsync = off` that is never. */
export async function flushesOfServer(cluster: Cluster): Promise<number> {
  const url = cluster.url("postgres");
  const [[version] = []] = await query(url, "SHOW server_version_num");
  const told =
    Number(version) >= 180_000
      ? "SELECT coalesce(sum(fsyncs), 0) FROM pg_stat_io WHERE object = 'wal'"
      : "SELECT wal_sync FROM pg_stat_wal";
  const [[count] = []] = await query(url, told);
  return Number(count);
}
