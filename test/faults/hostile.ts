import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { userAgent } from "../support/user-agent.ts";
import { startServer } from "./server.ts";
import { type Arena, token } from "./store.ts";

const password = "correct horse battery staple";
/** Whoever is at home here, as the proxy in front tells it. */
const owner = "198.51.100.7";

type Times = { logIn: number[]; introspection: number[] };
type Place = { url: string; person: string; client: { id: string; secret: string } };

/**
 * What 120 connections of one source cost everybody else: they guess passwords on the pages, begin log-ins, send XML to an
 * address of SAML, bodies that never come, tokens that nobody has and wrong secrets of clients. Meanwhile people log in from elsewhere, and an API asks about tokens. Those who
 * attack are a process of their own, so that the clock here measures the service and not them.
 *
 * @returns what was worse than it may be; empty when all was well
 */
export async function besideHostile(
  arena: Arena,
  { minutes, tell }: { minutes: number; tell: (line: string) => void },
): Promise<string[]> {
  await using store = await arena.newStore();
  const env = {
    ...store.place.env,
    IDSVC_EXTERNAL_URL: `http://localhost:${store.place.port}`,
    IDSVC_TRUSTED_PROXIES: "127.0.0.1,::1",
  };
  await using server = await startServer({ ...store.place, env });
  try {
    const place = await prepare(server.url);
    const memory = () => residentMb(server.pid);
    await measure(place, 5_000);
    const quiet = await measure(place, 15_000);
    const [memoryBefore, diskBefore] = [memory(), sizeMb(store.place.dataDir)];
    const attackers = startAttack({ url: server.url, port: store.place.port });
    await delay(2_000);
    const beside = await measure(place, minutes * 60_000);
    const memoryBeside = memory();
    const refusals = await attackers.stop();
    await delay(5_000);
    const after = await measure(place, 15_000);
    const grown = sizeMb(store.place.dataDir) - diskBefore;
    const told = (times: Times) =>
      `log-in ${median(times.logIn)} ms (${times.logIn.length}), introspection p99 ${percentile(times.introspection, 0.99)} ms`;
    tell(`quiet:  ${told(quiet)}; memory ${memoryBefore} MB`);
    tell(`beside: ${told(beside)}; memory ${memoryBeside} MB; ${refusals} refused`);
    tell(`after:  ${told(after)}; memory ${memory()} MB; the data folder grew by ${grown} MB`);
    return [
      ...worse("a log-in beside them", median(beside.logIn), 2 * median(quiet.logIn)),
      ...worse(
        "introspection (p99) beside them",
        percentile(beside.introspection, 0.99),
        2 * percentile(quiet.introspection, 0.99),
      ),
      ...worse("a log-in after them", median(after.logIn), 1.5 * median(quiet.logIn)),
      ...worse("memory after them, in MB", memory(), memoryBefore + 100),
      ...worse("what they left on the disk, in MB", grown, 20 * Math.max(1, minutes)),
      ...(refusals > 0 ? [] : ["nobody was refused: the attack was none"]),
    ];
  } finally {
    await server.stop();
  }
}

/** Starts the attack; `stop` tells how often it was refused for its budget. */
function startAttack(at: { url: string; port: number }): { stop(): Promise<number> } {
  const child = fork(new URL("hostile-attack.ts", import.meta.url), [at.url, String(at.port)]);
  return {
    async stop() {
      const told = once(child, "message");
      child.send("stop");
      const [refusals] = await told;
      child.disconnect();
      await once(child, "exit");
      return Number(refusals);
    },
  };
}

const worse = (what: string, is: number, most: number): string[] =>
  is <= most ? [] : [`${what}: ${is}, at most ${Math.round(most)}`];

async function prepare(url: string): Promise<Place> {
  const api = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const answer = await fetch(`${url}/resources/v3alpha${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    const made = await answer.json();
    assert.equal(answer.status, 201, JSON.stringify(made));
    return made;
  };
  const person = "hostile-person";
  await api("/users", {
    username: person,
    data: { given_name: "Ada" },
    authenticators: { password: { password } },
  });
  const { details } = await api("/projects", { name: "hostile" });
  const asked = { auth_method_type: "API_AUTH_METHOD_TYPE_BASIC" };
  const app = await api("/apps", { project_id: details.id, name: "api", api: asked });
  return { url, person, client: { id: app.client_id, secret: app.client_secret } };
}

/** Logs in and introspects again and again for so long; each must succeed. */
async function measure(place: Place, forMs: number): Promise<Times> {
  const times: Times = { logIn: [], introspection: [] };
  const end = performance.now() + forMs;
  const loop = async (into: number[], pauseMs: number, work: () => Promise<void>) => {
    while (performance.now() < end) {
      const began = performance.now();
      await work();
      into.push(performance.now() - began);
      await delay(pauseMs);
    }
  };
  await Promise.all([
    loop(times.logIn, 500, () => logIn(place)),
    loop(times.introspection, 20, () => introspect(place)),
  ]);
  return times;
}

async function logIn({ url, person }: Place): Promise<void> {
  const agent = userAgent(url, new Map(), { "x-forwarded-for": owner });
  await agent.open("/ui/login");
  await agent.submit({ login_name: person });
  const { url: at, status } = await agent.submit({ password });
  assert.equal(status, 200);
  assert.doesNotMatch(at.pathname, /password|loginname/, "the right password was taken");
}

async function introspect({ url, client: { id, secret } }: Place): Promise<void> {
  const basic = Buffer.from(`${id}:${secret}`).toString("base64");
  const answer = await fetch(`${url}/oauth/v2/introspect`, {
    method: "POST",
    headers: { authorization: `Basic ${basic}`, "x-forwarded-for": owner },
    body: new URLSearchParams({ token: "unknown" }),
  });
  assert.deepEqual(await answer.json(), { active: false });
}

const percentile = (times: readonly number[], part: number): number => {
  const sorted = times.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0);
};
const median = (times: readonly number[]): number => percentile(times, 0.5);

const residentMb = (pid: number): number =>
  Math.round(
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024,
  );

const sizeMb = (folder: string): number =>
  Math.round(
    readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0) / 1e6,
  );
