import { type Call, ask } from "./call.ts";
import { both, type Fault, judgeTimes, newOutcome } from "./fault.ts";
import { startReplicas } from "./replicas.ts";
import { token } from "./store.ts";

const clients = 8;

/** Writes at one replica and searches at another at once, without a wait: what was acknowledged is found, as it is. */
export const writeThenSearch: Fault = {
  id: "F15",
  title: "write, then search at a random replica at once",
  engines: both,
  rounds: { usual: 400, full: 100_000 },
  async run(arena, rounds) {
    const outcome = newOutcome();
    await using store = await arena.newStore();
    await using replicas = await startReplicas(store, arena.engine === "postgres" ? 2 : 1);
    const times: number[] = [];
    const send = (what: Call) =>
      ask(replicas.urls[Math.floor(Math.random() * replicas.urls.length)] ?? "", token, what);
    const loops = Array.from({ length: clients }, async (_, client) => {
      let id = "";
      for (let at = 0; outcome.rounds < rounds; at++) {
        outcome.rounds += 1;
        const name = `name ${client} ${at}`;
        const body = { name, rest_webhook: { url: "https://example.com/hook" } };
        const write =
          at % 3 === 0
            ? { method: "POST", path: "/targets", body }
            : { method: "PATCH", path: `/targets/${id}`, body: { name } };
        const written = await send(write);
        if (written.status >= 400) {
          outcome.unexplained.push(`${name}: ${written.status} ${written.json.message}`);
          continue;
        }
        outcome.acknowledged += 1;
        id = at % 3 === 0 ? String(written.json.details.id) : id;
        const start = performance.now();
        const filters = [{ name: { name, method: "TEXT_FILTER_METHOD_EQUALS" } }];
        const found = await send({ method: "POST", path: "/targets/_search", body: filters });
        times.push(performance.now() - start);
        const [one] = found.json.result ?? [];
        const sequence = written.json.details.sequence;
        if (one?.details?.id !== id || BigInt(one.details.sequence) < BigInt(sequence))
          outcome.lost.push(`${name} at ${sequence}: ${JSON.stringify(found.json).slice(0, 200)}`);
        if (BigInt(found.json.details?.processed_sequence ?? 0) < BigInt(sequence))
          outcome.lost.push(`${name}: the answer says it is of before ${sequence}`);
      }
    });
    await Promise.all(loops);
    judgeTimes(outcome, "searching", times, 500);
    return outcome;
  },
};
