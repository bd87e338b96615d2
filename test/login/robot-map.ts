import { stateOf } from "../support/pages-seen.ts";
import type { Shown } from "../support/user-agent.ts";
import { type Action, actionsOf, type Surroundings } from "./robot-actions.ts";

/** A page as it is to whoever comes to it: which page, and what can be done on it. */
export type State = {
  key: string;
  path: string;
  actions: readonly Action[];
  /** The links and buttons that nobody tried yet, the buttons first. */
  untried: Set<number>;
  /** What somebody new does to come here, by numbers of actions: the shortest walk that is known, and one that somebody has gone. */
  walks: readonly (readonly number[])[];
};

/** The states that were come to, and where what was tried on them led. */
export type RobotMap = ReturnType<typeof robotMap>;

const end = "end";

export function robotMap(world: Surroundings, isEnd: (shown: Shown) => boolean) {
  const states = new Map<string, State>();
  const edges = new Map<string, Map<number, string>>();

  const keyOf = (shown: Shown): string =>
    isEnd(shown) ? end : `${shown.url.pathname}\n${stateOf(shown.html)}`;

  return {
    states,
    keyOf,

    /** @param walks what leads here, for whoever wants to come here too */
    enter(shown: Shown, walks: readonly (readonly number[])[]): State | undefined {
      const key = keyOf(shown);
      if (key === end) return undefined;
      const known = states.get(key);
      if (known !== undefined) return known;
      const actions = actionsOf(shown, world);
      const state = {
        key,
        path: shown.url.pathname,
        actions,
        untried: new Set(actions.keys()),
        walks,
      };
      states.set(key, state);
      return state;
    },

    isKnown: (key: string): boolean => key === end || states.has(key),

    led(from: State, at: number, to: string): void {
      edges.set(from.key, (edges.get(from.key) ?? new Map<number, string>()).set(at, to));
    },

    /** The first action of the shortest way, of at most so many steps, to a state of which something was not tried. */
    wayOn(from: State, mostSteps: number): number | undefined {
      const seen = new Set([from.key]);
      let rim = [...(edges.get(from.key) ?? [])].map(([at, to]) => ({ first: at, to }));
      for (let steps = 0; steps < mostSteps && rim.length > 0; steps += 1) {
        const found = rim.find(({ to }) => (states.get(to)?.untried.size ?? 0) > 0);
        if (found !== undefined) return found.first;
        const next = rim.filter(({ to }) => to !== end && !seen.has(to));
        for (const { to } of next) seen.add(to);
        rim = next.flatMap(({ first, to }) =>
          [...(edges.get(to)?.values() ?? [])].map((beyond) => ({ first, to: beyond })),
        );
      }
      return undefined;
    },

    /** The states from which nothing that was tried leads to the end, over however many others. Those that nobody came to again are told elsewhere. */
    stuck(): State[] {
      const leading = new Set([end]);
      for (let before = 0; before !== leading.size; ) {
        before = leading.size;
        for (const [from, to] of edges)
          if ([...to.values()].some((key) => leading.has(key))) leading.add(from);
      }
      return [...states.values()].filter(({ key }) => edges.has(key) && !leading.has(key));
    },
  };
}

/** Where the links and buttons of states have led, in worlds with the same settings. */
export type Experience = {
  note(from: State, at: number, to: string): void;
  /** Where it led to in several worlds, always; undefined where it is not known or not sure. */
  of(from: State, at: number): string | undefined;
};

// In so many worlds it must have led to the same state.
const sure = 3;

export function robotExperience(): Experience {
  const seen = new Map<string, { to: string; times: number; isSure: boolean }>();
  const nameOf = ({ key, actions }: State, at: number) => `${at} ${actions[at]?.label}\n${key}`;
  return {
    note(from, at, to) {
      const before = seen.get(nameOf(from, at)) ?? { to, times: 0, isSure: true };
      const times = before.times + 1;
      seen.set(nameOf(from, at), { to, times, isSure: before.isSure && before.to === to });
    },
    of(from, at) {
      const known = seen.get(nameOf(from, at));
      return known?.isSure && known.times >= sure ? known.to : undefined;
    },
  };
}
