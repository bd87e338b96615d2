import { setTimeout as delay } from "node:timers/promises";
import { type Cluster, startCluster } from "../support/postgres-cluster.ts";
import { startProxy } from "../support/postgres-proxy.ts";
import { check } from "./checker.ts";
import { countInto, type Fault, judgeTimes, newOutcome, nextAcknowledged, pause } from "./fault.ts";
import { startServer } from "./server.ts";
import { databaseUrl, newStore, query, token } from "./store.ts";
import { createWriters } from "./writers.ts";

const longestHealMs = 5_000;
const behindMs = 400;

/**
 * The primary is killed a moment after its standby was cut off, and the standby takes over. A standby that is not waited
 * for must show a loss, or the checker could not see one.
 */
export const failedOver: Fault = {
  id: "F09",
  title: "primary killed, synchronous standby promoted",
  engines: ["postgres"],
  rounds: { usual: 2, full: 100 },
  async run(_, rounds) {
    const outcome = newOutcome();
    const heals: number[] = [];
    const shown = await failOver(false);
    if (shown.found.length === 0)
      outcome.unexplained.push(
        "nothing was lost without synchronous replication: the checker is blind",
      );
    outcome.remark = `without synchronous replication ${shown.found.length} violations`;
    for (; outcome.rounds < rounds; outcome.rounds++) {
      const { found, writers, healMs } = await failOver(true);
      outcome.lost.push(...found.map((each) => `round ${outcome.rounds}: ${each}`));
      outcome.struck += 1;
      heals.push(healMs);
      countInto(outcome, writers);
    }
    judgeTimes(outcome, "writing again", heals, longestHealMs);
    return outcome;
  },
};

async function failOver(isSynchronous: boolean) {
  await using primary = await startCluster();
  await using store = await newStore(primary);
  const direct = databaseUrl(store.place);
  const database = new URL(direct).pathname.slice(1);
  await using proxy = await startProxy(direct);
  const env = { ...store.place.env, IDSVC_DATABASE_URL: proxy.url };
  await using standby = await startCluster({ standbyOf: primary });
  if (isSynchronous) await waitForStandby(primary);
  const writers = createWriters(16, token);
  await using server = await startServer({ ...store.place, env });
  try {
    await using running = writers.run(server.url);
    await nextAcknowledged(writers, 10_000);
    await pause(100, 500);
    await cutOff(standby);
    // Nobody may hear of success any more, where the standby is waited for.
    if (!isSynchronous) await nextAcknowledged(writers, 10_000);
    await delay(behindMs);
    await primary.kill();
    await query(standby.url("postgres"), "SELECT pg_promote()");
    proxy.lead(standby.url(database));
    const healMs = await nextAcknowledged(writers, 20_000);
    await running.stop();
    const place = {
      ...store.place,
      env: { ...env, IDSVC_DATABASE_URL: standby.url(database) },
    };
    return { found: await check(place, writers.log), writers, healMs };
  } finally {
    await server.kill();
  }
}

/** From now on a commit is acknowledged when the standby has flushed it. */
async function waitForStandby(primary: Cluster): Promise<void> {
  const url = primary.url("postgres");
  await query(url, "ALTER SYSTEM SET synchronous_standby_names = '*'");
  await query(url, "SELECT pg_reload_conf()");
  for (const end = Date.now() + 10_000; ; await delay(50)) {
    const [row] = await query(url, "SELECT sync_state FROM pg_stat_replication");
    if (row?.[0] === "sync") return;
    if (Date.now() > end) throw new Error("the standby does not follow");
  }
}

/** From now on the standby hears nothing of the primary. */
async function cutOff(standby: Cluster): Promise<void> {
  const url = standby.url("postgres");
  await query(url, "ALTER SYSTEM SET primary_conninfo = ''");
  await query(url, "SELECT pg_reload_conf()");
  for (const end = Date.now() + 10_000; ; await delay(20)) {
    const [row] = await query(url, "SELECT pid FROM pg_stat_wal_receiver");
    if (row === undefined) return;
    if (Date.now() > end) throw new Error("the standby goes on listening");
  }
}
