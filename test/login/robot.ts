import assert from "node:assert/strict";
import { stateOf } from "../support/pages-seen.ts";
import { type Shown, type UserAgent, userAgent } from "../support/user-agent.ts";
import {
  act,
  type Action,
  actionsOf,
  onward,
  type Played,
  type Surroundings,
} from "./robot-actions.ts";

export type RobotWorld = Surroundings & {
  /** Where a browser begins, or how. */
  from: string | ((agent: UserAgent, person: Played) => Promise<Shown>);
  /** Somebody new, of whom nothing was used up. */
  person(): Promise<Played>;
  /** Before each walk: budgets fill up. */
  rest(): void;
  /** Settings of log-ins that count while the world is explored. */
  settings?: Settings;
  /** Pages that are an end, beside the app. */
  ends: readonly string[];
};

export type Settings = Readonly<Record<string, unknown>>;

/** What is tried of a state by one person in one browser: all its links, which change nothing, or one of its buttons. */
type Visit = { state: State; tries: readonly number[] };

type State = { key: string; path: string; walk: readonly number[]; actions: readonly Action[] };

export type Explored = {
  /** How many states of pages, and how many links and buttons of them were tried. */
  states: number;
  tried: number;
  /** The paths of all pages that were shown. */
  paths: ReadonlySet<string>;
  /** States from which no end was found: their paths, with their links and buttons. */
  stuck: readonly string[];
  /**
   * A page of 5xx, one that is too large, one without a way on, a form that is answered with a page, a link that leads to its own
   * page, and redirects that do not end: what was pressed, and what came of it.
   */
  faults: readonly string[];
};

const end = "end";
const largestPage = 30 * 1024;

/**
 * Clicks every link and button of every state of the pages that a log-in leads to, each as it comes to a new person in a new browser,
 * until all are tried or so many were. An end is the app, or the page that tells that somebody is signed in or out.
 */
export async function explore(given: RobotWorld, most: number): Promise<Explored> {
  const states = new Map<string, State>();
  const edges = new Map<string, Set<string>>();
  const paths = new Set<string>();
  const faults: string[] = [];
  const queue: Visit[] = [];
  let tried = 0;
  const world: RobotWorld = {
    ...given,
    async onward(agent, shown) {
      if (shown.left === undefined) paths.add(shown.url.pathname);
      return (await given.onward?.(agent, shown)) ?? shown;
    },
  };

  const isEnd = ({ left, url }: Shown): boolean =>
    left !== undefined || world.ends.includes(url.pathname);

  function enter(shown: Shown, walk: readonly number[]): string {
    check(shown);
    if (isEnd(shown)) return end;
    const key = `${shown.url.pathname}\n${stateOf(shown.html)}`;
    if (!states.has(key)) {
      const state = { key, path: shown.url.pathname, walk, actions: actionsOf(shown, world) };
      assert.ok(state.actions.length > 0, `no way on: ${shown.url} ${shown.html}`);
      states.set(key, state);
      const all = [...state.actions.entries()];
      const links = all.flatMap(([at, { kind }]) => (kind === "link" ? [at] : []));
      if (links.length > 0) queue.push({ state, tries: links });
      // The first of a page is what it is for.
      for (const [at, { kind }] of all.toReversed())
        if (kind === "button") queue.push({ state, tries: [at] });
    }
    return key;
  }

  async function walkTo(
    walk: readonly number[],
  ): Promise<{ agent: UserAgent; shown: Shown; person: Played }> {
    world.rest();
    const person = await world.person();
    const agent = userAgent(world.issuer);
    const { from } = world;
    let shown = await (typeof from === "string"
      ? onward(world, agent, await agent.open(from))
      : from(agent, person));
    for (const at of walk) {
      const next = actionsOf(shown, world)[at];
      if (next === undefined) break;
      shown = await act(agent, person, next, world);
    }
    return { agent, shown, person };
  }

  /** What is wrong is told, and the robot goes on elsewhere. */
  async function noting(where: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const { message, cause = "" } = Object(error);
      faults.push(`${where}: ${String(message)} ${String(cause)}`.trim());
    }
  }

  async function visit({ state, tries }: Visit): Promise<void> {
    const { agent, shown, person } = await walkTo(state.walk);
    if (isEnd(shown) || shown.url.pathname !== state.path) return;
    const actions = actionsOf(shown, world);
    for (const at of tries) {
      const action = actions[at];
      if (action === undefined) continue;
      tried += 1;
      await noting(`${state.path}, ${action.label}`, async () => {
        // Each link is opened as in a tab of its own.
        const to = enter(await act(agent, person, action, world), [...state.walk, at]);
        edges.set(state.key, (edges.get(state.key) ?? new Set<string>()).add(to));
        const isLoop = action.kind === "link" && to === state.key;
        assert.ok(!isLoop, "a link that leads to its own page");
      });
    }
  }

  await noting("the first page", async () => void enter((await walkTo([])).shown, []));
  // Where not all are tried, deep pages come first.
  const take = () => (Number.isFinite(most) ? queue.pop() : queue.shift());
  for (let next = take(); next !== undefined && tried < most; next = take()) {
    const found = next;
    await noting(found.state.path, () => visit(found));
  }
  const stuck = queue.length > 0 ? [] : stuckOf(states, edges);
  return { states: states.size, tried, paths, stuck, faults };
}

/** The states from which no edge leads to the end, over however many others. */
function stuckOf(
  states: ReadonlyMap<string, State>,
  edges: ReadonlyMap<string, Set<string>>,
): string[] {
  const leading = new Set([end]);
  for (let before = 0; before !== leading.size; ) {
    before = leading.size;
    for (const [from, to] of edges) if ([...to].some((key) => leading.has(key))) leading.add(from);
  }
  return [...states.values()]
    .filter(({ key }) => !leading.has(key))
    .map(({ path, actions }) => `${path}: ${actions.map(({ label }) => label).join(", ")}`);
}

function check({ status, html, url }: Shown): void {
  assert.ok(status < 500, `${status}: ${url} ${html}`);
  assert.ok(Buffer.byteLength(html) <= largestPage, `${url} has ${Buffer.byteLength(html)} bytes`);
}
