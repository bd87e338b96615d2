import assert from "node:assert/strict";
import { stateOf } from "../support/pages-seen.ts";
import { type Shown, type UserAgent, userAgent } from "../support/user-agent.ts";

/** Somebody whom the robot plays: what they type into fields, by name. */
export type Played = {
  values: Readonly<Record<string, (page: Shown) => string | Promise<string>>>;
};

export type RobotWorld = {
  issuer: string;
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
  /** What a page does by itself: a browser that is sent to a provider logs in there, and comes back. */
  onward?(agent: UserAgent, shown: Shown): Promise<Shown>;
};

export type Settings = Readonly<Record<string, unknown>>;

/** A link, or a button with what is in its form; `isFilled` for one that is pressed after its fields were filled in. */
type Action =
  | { kind: "link"; href: string; label: string }
  | {
      kind: "button";
      label: string;
      action: string;
      fields: Readonly<Record<string, string>>;
      inputs: readonly string[];
      isFilled: boolean;
    };

/** What is tried of a state by one person in one browser: all its links, which change nothing, or one of its buttons. */
type Visit = { state: State; tries: readonly number[] };

type State = { key: string; path: string; walk: readonly number[]; actions: readonly Action[] };

export type Explored = {
  /** How many states of pages, and how many links and buttons of them were tried. */
  states: number;
  tried: number;
  /** States from which no end was found: their paths, with their links and buttons. */
  stuck: readonly string[];
};

const end = "end";
const largestPage = 30 * 1024;

/**
 * Clicks every link and button of every state of the pages that a log-in leads to, each as it comes to a new person in a new browser,
 * until all are tried or so many were. An end is the app, or the page that tells that somebody is signed in or out.
 *
 * @throws AssertionError for a page of 5xx, one that is too large, one without a way on, a form that is answered with a page, a link that
 *   leads to its own page, and for redirects that do not end
 */
export async function explore(world: RobotWorld, most: number): Promise<Explored> {
  const states = new Map<string, State>();
  const edges = new Map<string, Set<string>>();
  const queue: Visit[] = [];
  let tried = 0;

  const isEnd = ({ left, url }: Shown): boolean =>
    left !== undefined || world.ends.includes(url.pathname);

  function enter(shown: Shown, walk: readonly number[]): string {
    if (isEnd(shown)) return end;
    check(shown);
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

  enter((await walkTo([])).shown, []);
  // Where not all are tried, deep pages come first.
  const take = () => (Number.isFinite(most) ? queue.pop() : queue.shift());
  for (let next = take(); next !== undefined && tried < most; next = take()) {
    const { state, tries } = next;
    const { agent, shown, person } = await walkTo(state.walk);
    if (isEnd(shown) || shown.url.pathname !== state.path) continue;
    const actions = actionsOf(shown, world);
    for (const at of tries) {
      const action = actions[at];
      if (action === undefined) continue;
      tried += 1;
      // Each link is opened as in a tab of its own.
      const to = enter(await act(agent, person, action, world), [...state.walk, at]);
      const isLoop = action.kind === "link" && to === state.key;
      assert.ok(!isLoop, `a link that leads to its own page: ${action.label}, ${state.path}`);
      edges.set(state.key, (edges.get(state.key) ?? new Set<string>()).add(to));
    }
  }
  return { states: states.size, tried, stuck: queue.length > 0 ? [] : stuckOf(states, edges) };
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

/** Follows the link or presses the button that a page is for: its first, or the one of a label that is preferred. */
export async function goOn(
  agent: UserAgent,
  person: Played,
  world: Pick<RobotWorld, "issuer" | "onward">,
  preferred: RegExp,
): Promise<Shown> {
  const actions = actionsOf(agent.last, world);
  const action = actions.find(({ label }) => preferred.test(label)) ?? actions[0];
  assert.ok(action !== undefined, `no way on: ${agent.last.url}`);
  return act(agent, person, action, world);
}

async function act(
  agent: UserAgent,
  person: Played,
  action: Action,
  world: Pick<RobotWorld, "issuer" | "onward">,
): Promise<Shown> {
  if (action.kind === "link") return onward(world, agent, await agent.open(action.href));
  const { fields, inputs, isFilled } = action;
  const page = agent.last;
  const body = new URLSearchParams(fields);
  for (const name of inputs) {
    body.set(name, isFilled ? ((await person.values[name]?.(page)) ?? "") : "");
  }
  const headers = { origin: world.issuer, "sec-fetch-site": "same-origin" };
  const shown = await agent.open(action.action, { method: "POST", body, headers });
  assert.ok(
    shown.isRedirected || shown.status >= 400,
    `answered with a page: ${action.action}, ${action.label}`,
  );
  return onward(world, agent, shown);
}

const onward = async (
  world: Pick<RobotWorld, "onward">,
  agent: UserAgent,
  shown: Shown,
): Promise<Shown> => (await world.onward?.(agent, shown)) ?? shown;

function actionsOf({ html, url }: Shown, { issuer }: Pick<RobotWorld, "issuer">): Action[] {
  const links = [...html.matchAll(/<a ([^>]*)>([\s\S]*?)<\/a>/g)].flatMap(
    ([, tag = "", text = ""]) => {
      const href = new URL(unescape(/href="([^"]*)"/.exec(tag)?.[1] ?? ""), url);
      const isOther =
        // Another language, this page itself, a file.
        /hreflang=|aria-current=|class="skip"/.test(tag) ||
        href.origin !== issuer ||
        href.searchParams.has("as");
      return isOther ? [] : [{ kind: "link" as const, href: href.href, label: textOf(text) }];
    },
  );
  const forms = [...html.matchAll(/<form ([^>]*)>([\s\S]*?)<\/form>/g)]
    .filter(([, tag = ""]) => !tag.includes("data-passkey"))
    .flatMap(([, tag = "", content = ""]) =>
      buttonsOf(unescape(/action="([^"]*)"/.exec(tag)?.[1] ?? ""), content),
    );
  return [...forms, ...links];
}

function buttonsOf(action: string, content: string): Action[] {
  const valueIn = (tag: string, name: string) =>
    unescape(new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? "");
  const all = [...content.matchAll(/<input[^>]*>/g)]
    .map(([tag]) => tag)
    .filter((tag) => tag.includes(" name="));
  // What is hidden and empty is for a script to fill in.
  const isFixed = (tag: string) =>
    (/type="hidden"/.test(tag) && valueIn(tag, "value") !== "") ||
    (/type="radio"/.test(tag) && / checked/.test(tag));
  const fixed = all
    .filter(isFixed)
    .map((tag) => [valueIn(tag, "name"), valueIn(tag, "value")] as const);
  const inputs = all
    .filter((tag) => !isFixed(tag) && !/type="radio"/.test(tag))
    .map((tag) => valueIn(tag, "name"));
  return [...content.matchAll(/<button ([^>]*type="submit"[^>]*)>([\s\S]*?)<\/button>/g)].flatMap(
    ([, tag = "", text = ""]) => {
      const own = valueIn(` ${tag}`, "name");
      const fields = {
        ...Object.fromEntries(fixed),
        ...(own === "" ? {} : { [own]: valueIn(` ${tag}`, "value") }),
      };
      const press = { kind: "button", label: textOf(text), action, fields, inputs } as const;
      return inputs.length === 0
        ? [{ ...press, isFilled: true }]
        : [true, false].map((isFilled) => ({ ...press, isFilled }));
    },
  );
}

const textOf = (markup: string): string => markup.replaceAll(/<[^>]*>/g, " ").trim();

const unescape = (text: string): string =>
  text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");
