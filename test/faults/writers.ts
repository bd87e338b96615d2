import { setTimeout as delay } from "node:timers/promises";
import { type Answer, type Call, call as callOne } from "./call.ts";
import { type Entry, outcomeOf } from "./client-log.ts";
import { createCodes } from "./one-time.ts";
import { createPeople } from "./people.ts";

/** A target that a writer made, and the last sequence the server acknowledged for it. */
type Own = { id: string; sequence: bigint };

export type Writers = {
  /** Every call of every writer, in the order of the answers. */
  log: Entry[];
  /** Calls until `stop` is called and every call under way has ended; each call goes to one of these replicas. */
  run(...urls: string[]): AsyncDisposable & { stop(): Promise<void> };
  /** Resolves at the next answer that a writer gets. */
  answered(): Promise<void>;
};

const pauseMs = 5;
const codesOfAll = 0.05;
const peopleOfAll = 0.35;
const methods = ["CreateTarget", "PatchTarget", "DeleteTarget", "GetTarget", "SearchTargets"];
const service = "idsvc.resources.action.v3alpha.ActionService";

/**
 * Writers that create, patch, delete and wire targets, and make users with tokens, sessions and grants, each its own, some on
 * names that all of them want; and that redeem codes.
 */
export function createWriters(count: number, token: string): Writers {
  const log: Entry[] = [];
  const owned = Array.from({ length: count }, (): Own[] => []);
  const people = owned.map(() => createPeople());
  const note = (entry: Entry): void => void log.push(entry);
  const codes = createCodes(token, note);
  const waiting: (() => void)[] = [];
  let marks = 0;

  async function call(urls: string[], what: Call, by = token): Promise<Answer> {
    const url = urls[Math.floor(Math.random() * urls.length)] ?? "";
    const answer = await callOne(url, by, what);
    // Who finds nobody, or is told to come back, does not ask at once.
    if ([0, 503].includes(answer.status)) await delay(pauseMs);
    if (answer.status !== 0) for (const resolve of waiting.splice(0)) resolve();
    return answer;
  }

  async function write(
    urls: string[],
    op: Entry["op"],
    id: string,
    request: (mark: string) => Call,
  ) {
    const mark = `mark-${marks++}`;
    const answer = await call(urls, request(mark));
    const outcome = outcomeOf(answer.status, answer.reason);
    const entry: Entry = { ...answer, op, mark, outcome, id: answer.id || id };
    log.push(entry);
    return entry;
  }

  async function step(urls: string[], writer: number): Promise<void> {
    const choice = Math.random();
    if (choice < codesOfAll) {
      // A process that has just been killed breaks them off: what was acknowledged is noted.
      return codes.step(urls).catch(() => delay(pauseMs));
    }
    if (choice < codesOfAll + peopleOfAll) {
      return people[writer]?.step({
        write: (op, id, request) => write(urls, op, id, request),
        use: (secret, what) => call(urls, what, secret),
        note,
        isAlone: urls.length === 1,
      });
    }
    const own = owned[writer] ?? [];
    const target = own[Math.floor(Math.random() * own.length)];
    const dice = Math.random();
    const hook = (mark: string) => ({ rest_webhook: { url: `https://example.com/${mark}` } });
    if (target === undefined || dice < 0.35) {
      const name = (mark: string) =>
        Math.random() < 0.2 ? `wanted by all ${Math.floor(Math.random() * 5)}` : mark;
      const made = await write(urls, "create", "", (mark) => {
        const body = { name: name(mark), ...hook(mark) };
        return { method: "POST", path: "/targets", body };
      });
      if (made.outcome === "acknowledged") own.push({ id: made.id, sequence: made.sequence });
      return;
    }
    const path = `/targets/${target.id}`;
    if (dice < 0.6) {
      const name = Math.random() < 0.3 ? { name: `renamed ${Math.floor(Math.random() * 50)}` } : {};
      const request = (mark: string) => ({
        method: "PATCH",
        path,
        body: { ...hook(mark), ...name },
      });
      const { outcome, sequence } = await write(urls, "patch", target.id, request);
      if (outcome === "acknowledged") target.sequence = sequence;
    } else if (dice < 0.75) {
      own.splice(own.indexOf(target), 1);
      await write(urls, "delete", target.id, () => ({ method: "DELETE", path }));
    } else if (dice < 0.85) {
      const method = `/${service}/${methods[Math.floor(Math.random() * methods.length)]}`;
      const body = { condition: { response: { method } }, targets: [target.id] };
      await write(urls, "put", "", () => ({ method: "POST", path: "/executions", body }));
    } else {
      const atLeast = target.sequence;
      const answer = await call(urls, { method: "GET", path });
      const outcome = answer.status === 404 ? "acknowledged" : outcomeOf(answer.status);
      log.push({ ...answer, op: "read", mark: "", outcome, id: answer.id || target.id, atLeast });
    }
  }

  return {
    log,
    answered: () => new Promise((resolve) => waiting.push(resolve)),
    run(...urls) {
      let going = true;
      const loops = owned.map(async (_, writer) => {
        while (going) await step(urls, writer);
      });
      async function stop(): Promise<void> {
        going = false;
        await Promise.all(loops);
      }
      return { stop, [Symbol.asyncDispose]: stop };
    },
  };
}
