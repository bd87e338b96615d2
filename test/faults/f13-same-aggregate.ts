import { DomainError } from "../../src/errors.ts";
import { addList, by, list, listEvents, openStore, owner } from "../eventstore/place.ts";
import { databasePlace } from "../storage/postgres-place.ts";
import { filePlace } from "../storage/sqlite-place.ts";
import { call } from "./call.ts";
import { type Entry, outcomeOf, unexplained } from "./client-log.ts";
import { check } from "./checker.ts";
import { both, type Fault, newOutcome, type Outcome } from "./fault.ts";
import { startReplicas } from "./replicas.ts";
import { type Arena, type Engine, token } from "./store.ts";

const clients = 50;

/** Everybody changes one object: a list that is appended to, a number that is counted up, fields of one target. */
export const sameAggregate: Fault = {
  id: "F13",
  title: "50 clients change one object: sum, list, patches",
  engines: both,
  rounds: { usual: 6, full: 500 },
  async run(arena, rounds) {
    const outcome = newOutcome();
    await countAndAppend(arena.engine, rounds, outcome);
    await patchOne(arena, rounds, outcome);
    outcome.rounds = rounds;
    return outcome;
  },
};

/** Decisions that read what is there: each line tells how many were before it, so a lost update shows as a repetition. */
async function countAndAppend(engine: Engine, rounds: number, outcome: Outcome): Promise<void> {
  await using place = engine === "postgres" ? await databasePlace() : await filePlace();
  await using store = await openStore(place);
  await addList(store, "sum");
  // A second replica; SQLite has one writer.
  await using other = engine === "postgres" ? await openStore(place) : undefined;
  let acknowledged = 0;
  for (let round = 0; round < rounds; round++) {
    const appends = Array.from({ length: clients }, async (_, client) => {
      const { events } = client % 2 === 0 ? store : (other ?? store);
      try {
        await events.transact(by(), async (tx) => {
          const loaded = await tx.load(list, "sum");
          const line = String((loaded.state?.lines.length ?? 0) + 1);
          tx.record(list, loaded, [listEvents["line.added"]({ line })], owner);
        });
        acknowledged += 1;
      } catch (error) {
        // Who has lost again and again is told to try again, and nothing of theirs is there.
        const isAborted = error instanceof DomainError && error.kind === "aborted";
        if (!isAborted) outcome.unexplained.push(`sum: ${String(error)}`);
      }
    });
    await Promise.all(appends);
    outcome.struck += clients;
  }
  const { state } = await store.events.load(list, "one", "sum");
  const lines = state?.lines ?? [];
  if (lines.length !== acknowledged)
    outcome.lost.push(`${acknowledged} appends were acknowledged, ${lines.length} are there`);
  const wrong = lines.findIndex((line, at) => line !== String(at + 1));
  if (wrong !== -1) outcome.lost.push(`line ${wrong + 1} was decided on ${lines[wrong]}`);
  outcome.acknowledged += acknowledged;
}

async function patchOne(arena: Arena, rounds: number, outcome: Outcome): Promise<void> {
  await using store = await arena.newStore();
  await using replicas = await startReplicas(store, arena.engine === "postgres" ? 2 : 1);
  const log: Entry[] = [];
  let marks = 0;
  const send = async (client: number, op: Entry["op"], path: string) => {
    const mark = `mark-${marks++}`;
    const url = replicas.urls[client % replicas.urls.length] ?? "";
    const method = op === "create" ? "POST" : "PATCH";
    const body = {
      ...(op === "create" ? { name: mark } : {}),
      rest_webhook: { url: `https://example.com/${mark}` },
    };
    const answer = await call(url, token, { method, path, body });
    log.push({
      ...answer,
      id: answer.id === "" ? id : answer.id,
      op,
      mark,
      outcome: outcomeOf(answer.status, answer.reason),
    });
    return answer;
  };
  let id = "";
  ({ id } = await send(0, "create", "/targets"));
  for (let round = 0; round < rounds; round++) {
    const all = Array.from({ length: clients }, (_, at) => send(at, "patch", `/targets/${id}`));
    await Promise.all(all);
    outcome.struck += clients;
    // A patch that changes nothing writes nothing and succeeds.
    const none = await call(replicas.urls[0] ?? "", token, {
      method: "PATCH",
      path: `/targets/${id}`,
      body: {},
    });
    const newest = Math.max(...log.map(({ sequence }) => Number(sequence)));
    if (none.status !== 200 || Number(none.sequence) !== newest)
      outcome.unexplained.push(`an empty patch: ${none.status} at ${none.sequence}, not ${newest}`);
  }
  outcome.acknowledged += log.filter((entry) => entry.outcome === "acknowledged").length;
  outcome.lost.push(...(await check(store.place, log)));
  outcome.unexplained.push(...unexplained(log));
}
