import { setTimeout as delay } from "node:timers/promises";
import { ask } from "./call.ts";
import { type Fault, judgeTimes, newOutcome, type Outcome } from "./fault.ts";
import { startReplicas } from "./replicas.ts";
import { token } from "./store.ts";

const pollMs = 20;
const longestMs = 1_000;
const patienceMs = 5_000;

/** One replica takes a right away; the other has seen it used, and must refuse it within a second. */
export const staleCaches: Fault = {
  id: "F28",
  title: "token removed, user deactivated or locked at one replica, used at the other",
  engines: ["postgres"],
  rounds: { usual: 12, full: 1_000 },
  async run(arena, rounds) {
    const outcome = newOutcome();
    await using store = await arena.newStore();
    await using replicas = await startReplicas(store, 2);
    const [one = "", two = ""] = replicas.urls;
    const times: number[] = [];
    for (; outcome.rounds < rounds; outcome.rounds++) {
      // Either replica may be the one that is told.
      const [here, there] = outcome.rounds % 2 === 0 ? [one, two] : [two, one];
      times.push(await withdraw(here, there, outcome));
    }
    judgeTimes(outcome, "refused after", times, longestMs);
    const late = times.filter((ms) => ms > longestMs);
    outcome.lost.push(...late.map((ms) => `a right was used for ${Math.round(ms)} ms more`));
    return outcome;
  },
};

async function withdraw(here: string, there: string, outcome: Outcome): Promise<number> {
  const send = async (method: string, path: string, body?: object) => {
    const { status, json } = await ask(here, token, { method, path, ...(body && { body }) });
    if (status >= 400) throw new Error(`${method} ${path}: ${status} ${json.message}`);
    outcome.acknowledged += 1;
    return json;
  };
  const username = `user ${outcome.rounds}`;
  const made = await send("POST", "/users", {
    username,
    schema_id: "machine",
    data: { name: "m" },
  });
  const id = String(made.details.id);
  const pat = await send("POST", `/users/${id}/personal_access_tokens`, {});
  const use = async () => {
    const own = { method: "GET", path: `/users/${id}` };
    return (await ask(there, String(pat.token), own)).status;
  };
  for (let at = 0; at < 3; at++) {
    const status = await use();
    if (status !== 200) outcome.unexplained.push(`a new token was answered ${status}`);
  }
  const ways = [
    () => send("DELETE", `/users/${id}/personal_access_tokens/${pat.token_id}`),
    () => send("POST", `/users/${id}/_deactivate`),
    () => send("POST", `/users/${id}/_lock`),
    () => send("DELETE", `/users/${id}`),
  ];
  await ways[outcome.rounds % ways.length]?.();
  outcome.struck += 1;
  const start = performance.now();
  while ((await use()) !== 401) {
    if (performance.now() - start > patienceMs) break;
    await delay(pollMs);
  }
  return performance.now() - start;
}
