import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { median } from "./judge.ts";
import { freePort, residentMiB, spawnServer, untilOk } from "./process.ts";
import { madeRow, type RowResult } from "./report.ts";
import { newFolder, newStore, startService, storeIn, type Store } from "./store.ts";

const settleMs = 1_500;
const peerFolder = join(import.meta.dirname, "peers");
const peers = ["hello", "express", "connect"];

async function peerReady(name: string): Promise<number> {
  const port = await freePort();
  const since = performance.now();
  const at = (file: string) => join(peerFolder, file);
  await using child = spawnServer([at("main.js"), at(`${name}.ts`), "http1"], {}, port);
  return await untilOk(child, "/readyz", since);
}

async function serviceReady(dir: string): Promise<number> {
  const { child, readyMs } = await startService(dir);
  await using _ = child;
  return readyMs;
}

async function freshReady(): Promise<number> {
  const dir = newFolder();
  const ms = await serviceReady(dir);
  storeIn(dir)[Symbol.dispose]();
  return ms;
}

/** From spawn to the first 200 on /readyz, round by round; with a seeded store unless that is 0 targets. */
export async function startRows(
  rounds: number,
  seededTargets: number,
): Promise<{ rows: RowResult[]; peers: string }> {
  using existing = await newStore();
  using seeded = seededTargets === 0 ? undefined : await newStore(seededTargets);
  const times = new Map<string, number[]>();
  const take = async (name: string, work: Promise<number>) =>
    times.set(name, [...(times.get(name) ?? []), await work]);
  for (let round = 0; round < rounds; round++) {
    for (const name of peers) await take(name, peerReady(name));
    await take("start-fresh", freshReady());
    await take("start-existing", serviceReady(existing.dir));
    if (seeded !== undefined) await take("start-seeded", serviceReady(seeded.dir));
  }
  const of = (name: string) => median(times.get(name) ?? []);
  const ids = ["start-fresh", "start-existing", "start-seeded"].filter((id) => times.has(id));
  const rows = ids.map((id) =>
    madeRow(id, of(id), {
      ms: of(id),
      "x existing": of(id) / of("start-existing"),
      "x connect-node": of(id) / of("connect"),
      "x hello": of(id) / of("hello"),
    }),
  );
  const idle = await idleMiB(existing);
  rows.push(madeRow("rss-idle", idle, { MiB: idle }));
  if (seeded !== undefined) {
    const large = await idleMiB(seeded);
    rows.push(madeRow("rss-seeded", large, { MiB: large }));
  }
  return { rows, peers: peers.map((name) => `${name} ${of(name).toFixed(0)} ms`).join(", ") };
}

async function idleMiB({ dir }: Store): Promise<number> {
  const { child } = await startService(dir);
  await using server = child;
  await delay(settleMs);
  return residentMiB(server.pid);
}
