import type { JsonObject } from "@bufbuild/protobuf";
import { type Actions, focusOf, type Outcome, type Step } from "./action.ts";
import { attackActions } from "./attacks.ts";
import { NotLearned } from "./book.ts";
import { callActions } from "./calls.ts";
import { prepared } from "./prepared.ts";
import { learn } from "./learning.ts";
import { Watch } from "./oracle.ts";
import { otherActions } from "./others.ts";
import { pageActions } from "./pages.ts";
import { randomOf } from "./random.ts";
import type { Service } from "./service.ts";
import { makeWorld } from "./make-world.ts";
import type { World } from "./world.ts";

const actions: Actions = {
  ...callActions,
  prepared,
  ...attackActions,
  ...pageActions,
  ...otherActions,
};
const drawn = Object.entries(actions);
/** The weights of actions at this point of an attack. */
const weightsIn = (world: World) =>
  drawn.map(([name, { weight }]) => {
    return [name, typeof weight === "number" ? weight : weight(world)] as const;
  });

/** What one attacker tried, and what it came to. */
export type Attack = {
  role: string;
  steps: Step[];
  /** Those of them that succeeded. */
  done: Step[];
  /** How often what was tried, how often it succeeded, and what was said otherwise. */
  tried: Map<string, { steps: number; done: number; why: Map<string, number> }>;
  broken: string[];
};

/** Draws and takes so many steps in a new world, or until something is broken. */
export async function attack(
  service: Service,
  { role, seed, steps: most, until }: { role: string; seed: number; steps: number; until: number },
): Promise<Attack> {
  const random = randomOf(seed);
  const world = await makeWorld(service, role);
  world.focus = focusOf(random, world);
  const watch = new Watch(world);
  await watch.begin();
  const result: Attack = { role, steps: [], done: [], tried: new Map(), broken: [] };
  for (let at = 1; at <= most && result.broken.length === 0; at++) {
    if (performance.now() > until) break;
    const name = random.weighted(weightsIn(world));
    const words = actions[name]?.draw(random, world);
    if (words === undefined) continue;
    const step: Step = { at, do: name, with: words };
    result.steps.push(step);
    const { outcome, broken } = await take(world, watch, step);
    const label = outcome?.label ?? name;
    const counted = result.tried.get(label) ?? { steps: 0, done: 0, why: new Map() };
    counted.steps++;
    if (outcome?.isDone === true) {
      counted.done++;
      result.done.push(step);
    }
    const why = outcome?.why ?? "";
    if (why !== "") counted.why.set(why, (counted.why.get(why) ?? 0) + 1);
    result.tried.set(label, counted);
    result.broken.push(...broken);
  }
  if (result.broken.length === 0) result.broken.push(...(await watch.end()));
  return result;
}

/** Takes these steps, and no others, in a new world; tells what is broken first. */
export async function replay(
  service: Service,
  role: string,
  steps: readonly Step[],
  tell?: (step: Step, outcome: Outcome | undefined) => void,
): Promise<string[]> {
  const world = await makeWorld(service, role);
  const watch = new Watch(world);
  await watch.begin();
  for (const step of steps) {
    const { outcome, broken } = await take(world, watch, step);
    tell?.(step, outcome);
    if (broken.length > 0) return broken;
  }
  return watch.end();
}

const onlyReads = /\.(?:Get|Search|List|Resolve|Preview|Match)/;

async function take(
  world: World,
  watch: Watch,
  step: Step,
): Promise<{ outcome?: Outcome; broken: string[] }> {
  const action = actions[step.do];
  if (action === undefined) throw new Error(`there is no step ${step.do}`);
  let words: JsonObject;
  let outcome: Outcome;
  try {
    words = world.book.fill(step.with);
    outcome = await action.run(world, words);
  } catch (error) {
    if (error instanceof NotLearned) return { broken: [] };
    throw error;
  }
  const isOthers = step.do in otherActions;
  const { told, made = {}, of = "" } = outcome;
  const learned = Object.entries(made).flatMap(([name, each]) =>
    learn(world, step.at, { [name]: each }, name.replace(/_\d+$/, "")),
  );
  if (told !== undefined) learned.push(...learn(world, step.at, told, of));
  if (outcome.isDone && !isOthers) noteAbout(world, step.at, words, of);
  if (outcome.isDone && !isOthers && !onlyReads.test(outcome.label ?? "")) {
    noteUse(world, watch, words);
  }
  const broken = [...(outcome.broken ?? []), ...(await watch.after(learned, isOthers))];
  return { outcome, broken };
}

/** Whom or what a step was about, for those after it. */
function noteAbout(
  { book, touched, about, mailOf }: World,
  at: number,
  words: JsonObject,
  of: string,
): void {
  const { body, path } = words;
  const named = Object(body ?? {}) as JsonObject;
  const [, inPath = ""] = /^\/[a-z_]+(?:\/forge_b)?\/([^/?]+)/.exec(String(path ?? "")) ?? [];
  const name = book.nameOf(String(named["id"] ?? words["user"] ?? words["app"] ?? inPath));
  if (name === undefined) return;
  about.set(String(at), name);
  if (of !== "") touched.set(of, name);
  const mail = Object(named["email"] ?? named) as JsonObject;
  if (of === "user" && mail["address"] !== undefined) mailOf.set(String(mail["address"]), name);
}

/** As whom the attacker has changed something. */
function noteUse({ used, book, attackers }: World, watch: Watch, words: JsonObject): void {
  const subject = watch.subjectOf(String(words["by"] ?? ""));
  if (subject === undefined) return;
  const name = book.nameOf(subject) ?? "";
  if (!attackers.has(name.replace(/^user /, ""))) used.add(subject);
}
