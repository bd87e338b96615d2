import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { userAgent } from "../support/user-agent.ts";
import { startServer } from "./server.ts";
import { type Arena, token } from "./store.ts";

const password = "correct horse battery staple";
const connections = 120;
/** The two sources of it all, as the proxy in front tells them. */
const [stranger, owner] = ["203.0.113.66", "198.51.100.7"];

type Times = { logIn: number[]; introspection: number[] };
type Place = { url: string; port: number; person: string; client: { id: string; secret: string } };

/**
 * What 120 connections of one source cost everybody else: they guess passwords on the pages, begin log-ins, send XML to an
 * address of SAML and bodies that never come. Meanwhile people log in from elsewhere, and an API asks about tokens.
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
  const server = await startServer({ ...store.place, env });
  try {
    const place = await prepare(server.url, store.place.port);
    const memory = () => residentMb(server.pid);
    await measure(place, 5_000);
    const quiet = await measure(place, 15_000);
    const [memoryBefore, diskBefore] = [memory(), sizeMb(store.place.dataDir)];
    const ending = new AbortController();
    const attackers = Array.from({ length: connections }, (_, nth) =>
      attack(place, nth, ending.signal),
    );
    await delay(2_000);
    const beside = await measure(place, minutes * 60_000);
    const memoryBeside = memory();
    ending.abort();
    const refusals = (await Promise.all(attackers)).reduce((sum, each) => sum + each, 0);
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

const worse = (what: string, is: number, most: number): string[] =>
  is <= most ? [] : [`${what}: ${is}, at most ${Math.round(most)}`];

async function prepare(url: string, port: number): Promise<Place> {
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
  return { url, port, person, client: { id: app.client_id, secret: app.client_secret } };
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

/** One connection of the attack; tells how often it was refused for its budget. */
async function attack(place: Place, nth: number, ending: AbortSignal): Promise<number> {
  const kinds = [guess, guess, guess, begin, sendXml, holdBody] as const;
  const kind = kinds[nth % kinds.length] ?? guess;
  let refused = 0;
  while (!ending.aborted) {
    const status = await kind(place, ending).catch(() => 0);
    if (status === 429) refused += 1;
    // A stranger has a machine of their own; here it is the one that is measured.
    await delay(20);
  }
  return refused;
}

const headers = { "x-forwarded-for": stranger };

let guesses = 0;
// Names that nobody has: whose name is guessed at waits in browsers that have not logged in as them before (J12).
async function guess({ url }: Place): Promise<number> {
  const agent = userAgent(url, new Map(), headers);
  const first = await agent.open("/ui/login");
  if (first.status !== 200) return first.status;
  await agent.submit({ login_name: `nobody-${guesses++}` });
  return (await agent.submit({ password: "wrong" })).status;
}

async function begin({ url }: Place): Promise<number> {
  const query = new URLSearchParams({ client_id: "x", state: "y".repeat(4_000) });
  return (await fetch(`${url}/oauth/v2/authorize?${query}`, { headers, redirect: "manual" }))
    .status;
}

const xml = Buffer.from(`<r>${"<a/>".repeat(32_000)}</r>`).toString("base64");
const form = new URLSearchParams({ SAMLResponse: xml, RelayState: "x" }).toString();
const typed = { ...headers, "content-type": "application/x-www-form-urlencoded" };

async function sendXml({ url }: Place): Promise<number> {
  const sent = { method: "POST", headers: typed, body: form };
  return (await fetch(`${url}/idps/1/saml/acs`, sent)).status;
}

/** A body of which a byte comes now and then. */
async function holdBody({ port }: Place, ending: AbortSignal): Promise<number> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  const type = "content-type: application/x-www-form-urlencoded\r\ncontent-length: 60000\r\n";
  const from = `x-forwarded-for: ${stranger}\r\n`;
  socket.write(`POST /oauth/v2/token HTTP/1.1\r\nhost: localhost:${port}\r\n${from}${type}\r\n`);
  while (!ending.aborted && socket.writable) {
    socket.write("a");
    await delay(1_000);
  }
  socket.destroy();
  return 0;
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
