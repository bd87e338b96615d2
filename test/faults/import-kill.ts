import { readFile } from "node:fs/promises";
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { JsonObject } from "@bufbuild/protobuf";
import { loadConfig } from "../../src/app/config.ts";
import { openKernel } from "../../src/app/kernel.ts";
import { silentLogger } from "../../src/telemetry/logger.ts";
import { beside } from "../support/beside.ts";
import { check } from "./checker.ts";
import { type Running, startServer } from "./server.ts";
import { type Store, token } from "./store.ts";

/** PBKDF2-SHA256 of `password-of-old`, 1,000 rounds. */
const hash =
  "$pbkdf2-sha256$1000$c2FsdHNhbHRzYWx0c2FsdA==$77F0Ffurl4/4FFWsEaKMUUy+mPIEy1sMLtMmT35JxGs=";
const orgId = "moved";
export const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
// The checker holds the whole log at once.
const mostChecked = 20_000;

export type ImportOutcome = {
  /** What must not be; empty when all is well. */
  violations: string[];
  /** Of the dry run, and of the import with its restarts. */
  forecastSeconds: number;
  seconds: number;
  /** Of the processes that served, as far as it was seen. */
  highestRssMb: number;
};

/**
 * Foresees an import in a dry run, then makes it while the server is killed with signal 9 so many times on the way; in its
 * middle stands a record that is wrong, and one user comes twice (F29).
 */
export async function importAndKill(
  { place }: Store,
  { users, kills }: { users: number; kills: number },
): Promise<ImportOutcome> {
  const violations: string[] = [];
  let server: Running = await startServer(place);
  let highestRssMb = 0;
  let from = performance.now();
  const passed = () => (performance.now() - from) / 1_000;
  let [forecastSeconds, seconds] = [0, 0];

  const job = async (id: string) => {
    const answer = await fetch(`${server.url}/management/v1/import/${id}`, { headers });
    highestRssMb = Math.max(highestRssMb, await rssMb(server.pid));
    return Object(await answer.json()).job as Record<string, string>;
  };
  const begin = (query: string) => beginImport(server.url, users, query);
  const ended = async (id: string): Promise<Record<string, string>> => {
    for (;;) {
      const found = await job(id);
      if (found["state"] !== "IMPORT_STATE_RUNNING") return found;
      await delay(50);
    }
  };
  const report = async (id: string): Promise<string> => {
    const answer = await fetch(`${server.url}/management/v1/import/${id}/report`, { headers });
    return await answer.text();
  };

  try {
    const forecast = await begin("&dryRun=true");
    await ended(forecast);
    forecastSeconds = passed();
    from = performance.now();
    const id = await begin("");
    for (let nth = 1; nth <= kills; nth++) {
      const enough = (users * nth) / (kills + 1);
      let found = await job(id);
      while (found["state"] === "IMPORT_STATE_RUNNING" && Number(found["created"]) < enough) {
        await delay(20);
        found = await job(id);
      }
      if (found["state"] !== "IMPORT_STATE_RUNNING") violations.push(`kill ${nth} came too late`);
      await server.kill();
      server = await startServer(place);
    }
    const done = await ended(id);
    seconds = passed();
    const wanted = { state: "IMPORT_STATE_COMPLETED", created: `${users + 1}`, existed: "1" };
    for (const [name, value] of Object.entries(wanted)) {
      if (done[name] !== value) violations.push(`${name} is ${done[name]}, and should be ${value}`);
    }
    if (done["refused"] !== "1") violations.push(`${done["refused"]} records were refused, not 1`);
    if ((await report(id)) !== (await report(forecast)))
      violations.push("the report is not what the dry run foresaw");
  } finally {
    await server.kill();
  }
  violations.push(...(await counted(place, users)));
  if (users <= mostChecked) violations.push(...(await check(place)));
  return { violations, forecastSeconds, seconds, highestRssMb };
}

/** Begins an import of so many users from this number on, and gives its id. */
export async function beginImport(
  url: string,
  users: number,
  query = "",
  withHash = true,
  first = 0,
): Promise<string> {
  const answer = await fetch(`${url}/management/v1/import?awaitResponse=false${query}`, {
    method: "POST",
    headers,
    body: Readable.toWeb(Readable.from(linesOf(users, withHash, first))),
    duplex: "half",
  } as RequestInit);
  const json = Object(await answer.json());
  if (answer.status !== 200) throw new Error(JSON.stringify(json));
  return String(json.job.id);
}

/** What is there after all: each user once, in the log and in the table. */
export async function counted(
  { dataDir, env = {} }: Store["place"],
  users: number,
): Promise<string[]> {
  const config = loadConfig({ files: [], flags: {}, env: { IDSVC_DATA_DIR: dataDir, ...env } });
  await using kernel = await openKernel(config, { logger: silentLogger() });
  const one = async (sql: string) => Number((await beside(kernel, sql)).rows[0]?.[0]);
  const rows = await one(`select count(*) from users where organization_id = '${orgId}'`);
  const events = `from events where type = 'user.human.added' and owner_id = '${orgId}'`;
  const added = await one(`select count(*) ${events}`);
  const distinct = await one(`select count(distinct aggregate_id) ${events}`);
  const left = await one("select count(*) from secrets where owner_type = 'import'");
  const told: string[] = [];
  for (const [what, found] of Object.entries({
    rows,
    "events of users": added,
    "users of events": distinct,
  })) {
    if (found !== users) told.push(`${found} ${what}, and not ${users}`);
  }
  if (left !== 0) told.push(`${left} sealed batches are left`);
  return told;
}

export async function* linesOf(
  users: number,
  withHash: boolean,
  first: number,
): AsyncGenerator<Uint8Array> {
  const line = (more: JsonObject) => Buffer.from(`${JSON.stringify({ orgId, ...more })}\n`);
  yield line({ org: { name: "Moved" } });
  for (let at = 0; at < users; at += 100) {
    const humanUsers: JsonObject[] = [];
    for (let nth = at; nth < Math.min(at + 100, users); nth++)
      humanUsers.push(userOf(first + nth, withHash));
    if (at <= users / 2 && users / 2 < at + 100)
      humanUsers.push({ userId: "nobody" }, userOf(first, withHash));
    yield line({ humanUsers });
  }
}

const userOf = (nth: number, withHash: boolean): JsonObject => ({
  userId: `moved-${nth}`,
  user: {
    userName: `user-${nth}`,
    profile: { firstName: "Ada", lastName: `Number ${nth}` },
    email: { email: `user-${nth}@example.test`, isEmailVerified: true },
    ...(withHash ? { hashedPassword: { value: hash } } : {}),
  },
});

/** The memory of a process in MB, where the system tells; 0 elsewhere. */
export async function rssMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1_024;
}
