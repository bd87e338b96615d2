import { startProxy } from "../support/postgres-proxy.ts";
import { appendFunction } from "../../src/storage/postgres/append-function.ts";
import { ask, call } from "./call.ts";
import { both, checkInto, type Fault, newOutcome, type Outcome, pause } from "./fault.ts";
import { type Disk, mountDisk } from "./f03-disk-full.ts";
import { startServer } from "./server.ts";
import { databaseUrl, type Store, token } from "./store.ts";

const healMs = 5_000;

/** The store of a server, and how it is made to fail. */
type Failing = AsyncDisposable & { url: string; fail(round: number): void; mend(): void };

/** Takes rights away while the store fails: who hears success is right, who hears a failure can try again. */
export const revokeFails: Fault = {
  id: "F30",
  title: "the store fails while a token is removed, a user locked, deactivated or deleted",
  engines: both,
  rounds: { usual: 12, full: 400 },
  async run(arena, rounds) {
    const outcome = newOutcome();
    await using stack = new AsyncDisposableStack();
    const disk = arena.engine === "sqlite" ? stack.use(mountDisk()) : undefined;
    const store = stack.use(await arena.newStore(disk?.folder));
    const failing = stack.use(await failingStore(store, disk));
    for (; outcome.rounds < rounds; outcome.rounds++) await revoke(failing, outcome);
    await checkInto(outcome, store);
    return outcome;
  },
};

async function failingStore({ place }: Store, disk?: Disk): Promise<Failing> {
  if (disk !== undefined) {
    const server = await startServer(place);
    const [fail, mend] = [() => disk.fill(), () => disk.empty()];
    return { url: server.url, fail, mend, [Symbol.asyncDispose]: () => server.kill() };
  }
  const proxy = await startProxy(databaseUrl(place));
  const server = await startServer({
    ...place,
    env: { ...place.env, IDSVC_DATABASE_URL: proxy.url },
  });
  return {
    url: server.url,
    fail(round) {
      if (round % 3 === 0) proxy.shut(true);
      else proxy.cut(round % 3 === 1 ? "before" : "after", appendFunction, 2);
    },
    mend() {
      proxy.cut("before", "", 0);
      proxy.shut(false);
    },
    async [Symbol.asyncDispose]() {
      await server.kill();
      await proxy[Symbol.asyncDispose]();
    },
  };
}

async function revoke({ url, fail, mend }: Failing, outcome: Outcome): Promise<void> {
  const round = outcome.rounds;
  const send = async (path: string, body: object) => {
    const { status, json } = await ask(url, token, { method: "POST", path, body });
    if (status >= 400) throw new Error(`${path}: ${status} ${json.message}`);
    outcome.acknowledged += 1;
    return json;
  };
  const machine = { username: `user ${round}`, schema_id: "machine", data: { name: "m" } };
  const id = String((await send("/users", machine)).details.id);
  const pat = await send(`/users/${id}/personal_access_tokens`, {});
  const use = async () =>
    (await call(url, String(pat.token), { method: "GET", path: `/users/${id}` })).status;
  if ((await use()) !== 200) outcome.unexplained.push(`round ${round}: a new token is refused`);
  const ways = [
    { method: "DELETE", path: `/users/${id}/personal_access_tokens/${pat.token_id}` },
    { method: "POST", path: `/users/${id}/_deactivate` },
    { method: "POST", path: `/users/${id}/_lock` },
    { method: "DELETE", path: `/users/${id}` },
  ];
  const way = ways[round % ways.length] ?? { method: "DELETE", path: `/users/${id}` };
  fail(round);
  outcome.struck += 1;
  const first = await call(url, token, way);
  mend();
  if (first.status >= 400) {
    if (first.status !== 503)
      outcome.unexplained.push(`round ${round}: ${first.status} ${first.text}`);
    let again = await call(url, token, way);
    for (const end = Date.now() + healMs; again.status === 503 && Date.now() < end; ) {
      await pause(10, 50);
      again = await call(url, token, way);
    }
    // What had been done after all is told as such.
    if (again.status === 0 || again.status >= 500)
      outcome.unexplained.push(`round ${round}: trying again: ${again.status} ${again.text}`);
  } else outcome.acknowledged += 1;
  const status = await use();
  if (status !== 401)
    outcome.lost.push(`round ${round}: ${way.path}: the token is answered ${status}`);
}
