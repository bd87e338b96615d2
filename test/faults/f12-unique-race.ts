import { type Answer, type Call, call } from "./call.ts";
import { both, checkInto, type Fault, newOutcome, type Outcome } from "./fault.ts";
import { startReplicas } from "./replicas.ts";
import { token } from "./store.ts";

const hook = { rest_webhook: { url: "https://example.com/race" } };

/** A kind of object with a unique name, and what a loser is told. */
type Kind = { path: string; body(name: string): object; taken: string };
const kinds: Kind[] = [
  { path: "/targets", body: (name) => ({ name, ...hook }), taken: "TARGET_NAME_TAKEN" },
  { path: "/organizations", body: (name) => ({ name }), taken: "ORGANIZATION_NAME_TAKEN" },
  {
    path: "/users",
    body: (username) => ({ username, data: { given_name: "Ada" } }),
    taken: "USERNAME_TAKEN",
  },
];

/** Two calls at once, at two replicas where the engine has them: for a new name, for a changed one, for one that is let go. */
export const uniqueRace: Fault = {
  id: "F12",
  title: "two replicas race for one name: create, rename, delete and create",
  engines: both,
  rounds: { usual: 90, full: 10_000 },
  async run(arena, rounds) {
    const outcome = newOutcome();
    await using store = await arena.newStore();
    await using replicas = await startReplicas(store, arena.engine === "postgres" ? 2 : 1);
    const at = (racer: number) => replicas.urls[racer % replicas.urls.length] ?? "";
    const send = async (racer: number, what: Call) => {
      const answer = await call(at(racer), token, what);
      if (answer.status < 400) outcome.acknowledged += 1;
      return answer;
    };
    for (; outcome.rounds < rounds; outcome.rounds++) {
      const kind = kinds[outcome.rounds % kinds.length];
      if (kind !== undefined) await race(kind, `race ${outcome.rounds}`, send, outcome);
    }
    await checkInto(outcome, store);
    return outcome;
  },
};

type Send = (racer: number, what: Call) => Promise<Answer>;

async function race(kind: Kind, name: string, send: Send, outcome: Outcome): Promise<void> {
  const { path, body } = kind;
  const create = (text: string): Call => ({ method: "POST", path, body: body(text) });
  const judge = (what: string, answers: Answer[]) => {
    outcome.struck += 1;
    const won = answers.filter(({ status }) => status < 400 && status > 0);
    const lost = answers.filter(({ status, reason }) => status === 409 && reason === kind.taken);
    if (won.length === 1 && lost.length === 1) return won[0];
    const told = answers.map(({ status, reason }) => `${status} ${reason}`).join(" and ");
    outcome.unexplained.push(`${what} ${name}: ${told}`);
    return undefined;
  };
  // Names that differ only in case are one name.
  const winner = judge(
    "create",
    await Promise.all([send(0, create(name)), send(1, create(name.toUpperCase()))]),
  );
  const [one, two] = await Promise.all([
    send(0, create(`${name} a`)),
    send(1, create(`${name} b`)),
  ]);
  const renames = [one, two].map(({ id }, racer) => {
    const key = path === "/users" ? "username" : "name";
    return send(racer, { method: "PATCH", path: `${path}/${id}`, body: { [key]: `${name} c` } });
  });
  judge("rename", await Promise.all(renames));
  // Whoever comes after the delete has the name; whoever comes before is refused. Both is wrong, neither is right too.
  if (winner === undefined) return;
  const [removed, again] = await Promise.all([
    send(0, { method: "DELETE", path: `${path}/${winner.id}` }),
    send(1, create(name)),
  ]);
  const isRight = again.status < 400 || again.reason === kind.taken;
  if (removed.status >= 400 || !isRight)
    outcome.unexplained.push(`delete ${name}: ${removed.status}, ${again.status} ${again.reason}`);
}
