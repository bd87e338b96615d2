import assert from "node:assert/strict";
import { type Shown, type UserAgent, userAgent } from "../support/user-agent.ts";
import { act, actionsOf, onward, type Played, type Surroundings } from "./robot-actions.ts";
import { type Experience, robotMap, type State } from "./robot-map.ts";

export type RobotWorld = Surroundings & {
  /** Where a browser begins, or how. */
  from: string | ((agent: UserAgent, person: Played) => Promise<Shown>);
  /** Somebody new, of whom nothing was used up. */
  person(): Promise<Played>;
  /** Before somebody new comes: budgets fill up. */
  rest(): void;
  /** Settings of log-ins that count while the world is explored. */
  settings?: Settings;
  /** Pages that are an end, beside the app. */
  ends: readonly string[];
};

export type Settings = Readonly<Record<string, unknown>>;

export type Explored = {
  /** How many states of pages, how many links and buttons of them were tried, and how many were known from other worlds. */
  states: number;
  tried: number;
  spared: number;
  /** Pages with links and buttons that nobody came to again, by any of the walks that had led there. */
  unreached: readonly string[];
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

const largestPage = 30 * 1024;
// After so many buttons, refused ones too, somebody new goes on: what is stored of a person differs more and more from what people have.
const mostPressed = 12;
// How far somebody goes for what was not tried yet, rather than that somebody new begins.
const mostDetour = 6;

/**
 * Clicks every link and button of every state of the pages that a log-in leads to, until all are tried or so many were. Somebody new in
 * a new browser walks to what was not tried yet and goes on from there, as long as there is more to try near by, as people do. An end is
 * the app, or the page that tells that somebody is signed in or out.
 */
export async function explore(
  given: RobotWorld,
  most: number,
  experience?: Experience,
): Promise<Explored> {
  const paths = new Set<string>();
  const faults: string[] = [];
  const unreached: string[] = [];
  let [tried, spared] = [0, 0];
  const world: RobotWorld = {
    ...given,
    async onward(agent, shown) {
      if (shown.left === undefined) paths.add(shown.url.pathname);
      return (await given.onward?.(agent, shown)) ?? shown;
    },
  };
  const map = robotMap(
    world,
    ({ left, url }) => left !== undefined || world.ends.includes(url.pathname),
  );

  async function begin(): Promise<Trail> {
    world.rest();
    const person = await world.person();
    const agent = userAgent(world.issuer);
    const { from } = world;
    const shown = await (typeof from === "string"
      ? onward(world, agent, await agent.open(from))
      : from(agent, person));
    paths.add(shown.url.pathname);
    return { agent, person, shown, walk: [] };
  }

  async function take(trail: Trail, at: number): Promise<void> {
    const action = actionsOf(trail.shown, world)[at];
    if (action === undefined) return;
    const { agent, person, shown } = trail;
    trail.shown = await act(agent, person, action, world, shown);
    trail.walk = [...trail.walk, at];
  }

  /** What is wrong is told, and the robot goes on elsewhere. A connection that was closed is opened anew, as browsers do. */
  async function noting(where: string, work: () => Promise<void>, again = true): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (again && isClosedConnection(error)) return noting(where, work, false);
      const { message, cause = "" } = Object(error);
      faults.push(`${where}: ${String(message)} ${String(cause)}`.trim());
    }
  }

  function enter(shown: Shown, walks: State["walks"]): State | undefined {
    check(shown);
    const state = map.enter(shown, walks);
    assert.ok(state?.actions.length !== 0, `no way on: ${shown.url} ${shown.html}`);
    return state;
  }

  /** Tries one action of the page that is shown, which is a link or the button that somebody goes on by. */
  async function attempt(trail: Trail, state: State, at: number): Promise<void> {
    const action = state.actions[at];
    assert.ok(action !== undefined);
    state.untried.delete(at);
    tried += 1;
    await noting(`${state.path}, ${action.label}`, async () => {
      const [shortest = []] = state.walks;
      const gone = [...trail.walk, at];
      await take(trail, at);
      const walk = [...shortest, at];
      enter(trail.shown, String(walk) === String(gone) ? [walk] : [walk, gone]);
      const to = map.keyOf(trail.shown);
      map.led(state, at, to);
      experience?.note(state, at, to);
      // What is found may be what is shown.
      const mayStay = action.kind !== "link" || action.isSearch === true;
      assert.ok(mayStay || to !== state.key, "a link that leads to its own page");
    });
  }

  /** Leaves out what is known to lead where this world was, too. */
  function spare(state: State): void {
    for (const at of state.untried) {
      const to = experience?.of(state, at);
      if (to === undefined || !map.isKnown(to)) continue;
      state.untried.delete(at);
      map.led(state, at, to);
      spared += 1;
    }
  }

  /** Goes on from the page that is shown, while there is something to try near by. */
  async function goOn(trail: Trail): Promise<void> {
    let [pressed, detours] = [0, 0];
    while (tried < most && pressed < mostPressed && detours < mostDetour) {
      const state = enter(trail.shown, [trail.walk]);
      if (state === undefined) return;
      spare(state);
      // Each link is opened as in a tab of its own. Where not all are tried, the way to the end is first.
      const links = [...state.untried].filter((at) => state.actions[at]?.kind === "link");
      const isHurried = Number.isFinite(most) && links.length < state.untried.size;
      for (const at of isHurried ? [] : links) await attempt({ ...trail }, state, at);
      const [button] = state.untried;
      detours = button === undefined ? detours + 1 : 0;
      const next = button ?? map.wayOn(state, mostDetour);
      if (next === undefined) return;
      if (state.actions[next]?.kind === "button") pressed += 1;
      await (button === undefined ? take(trail, next) : attempt(trail, state, button));
    }
  }

  /** Somebody new goes a walk that has led to a state, and on from where it leads now. */
  async function visit(walk: readonly number[]): Promise<void> {
    const trail = await begin();
    for (const at of walk) await take(trail, at);
    await goOn(trail);
  }

  await noting("the first page", async () => goOn(await begin()));
  const next = () =>
    [...map.states.values()].find((state) => {
      spare(state);
      return state.untried.size > 0;
    });
  for (let state = next(); state !== undefined && tried < most; state = next()) {
    const found = state;
    const before = found.untried.size;
    for (const walk of found.walks)
      if (found.untried.size === before) await noting(found.path, () => visit(walk));
    if (found.untried.size === before && tried < most) {
      for (const at of found.untried)
        unreached.push(`${found.path}, ${found.actions[at]?.label ?? ""}`);
      found.untried.clear();
    }
  }
  const stuck = tried >= most ? [] : map.stuck();
  return {
    states: map.states.size,
    tried,
    spared,
    paths,
    stuck: stuck.map(told),
    faults,
    unreached,
  };
}

/** Somebody in a browser: the page that they look at, and what they did to come there. */
type Trail = { agent: UserAgent; person: Played; shown: Shown; walk: readonly number[] };

const told = ({ path, actions }: State) =>
  `${path}: ${actions.map(({ label }) => label).join(", ")}`;

/** One that was kept for a minute, which the service ended while the request was on its way. */
function isClosedConnection(error: unknown): boolean {
  const { code, cause } = Object(error);
  return code === "ECONNRESET" || ["ECONNRESET", "UND_ERR_SOCKET"].includes(Object(cause).code);
}

function check({ status, html, url }: Shown): void {
  assert.ok(status < 500, `${status}: ${url} ${html}`);
  assert.ok(Buffer.byteLength(html) <= largestPage, `${url} has ${Buffer.byteLength(html)} bytes`);
}
