import type { StoredActions, StoredExecution, StoredTarget } from "../resources/action/index.ts";

/** An execution with its includes expanded: what is called, in this order (X3). */
export type PlannedExecution = {
  id: string;
  targets: readonly PlannedTarget[];
};

/** A target, and the execution that lists it: the one that runs, or one that it includes. */
export type PlannedTarget = StoredTarget & { via: string };

/** The executions of an instance, ready to be looked up. */
export type Plan = {
  isEmpty: boolean;
  /** The position in the log before which no event concerns any execution; undefined where none is about events. */
  eventsFrom: bigint | undefined;
  /**
   * The execution of the most specific condition (X4), by candidate ids of which the first that exists counts.
   * With `at`, only of those that stood in the log before.
   */
  find(candidates: readonly string[], at?: bigint): PlannedExecution | undefined;
};

/** Whoever includes lists in lists may name a thousand million targets: so many of one execution are called. */
export const mostTargets = 1_000;

/** Makes the plan of what is stored. An execution is expanded when it is first found. */
export function compilePlan({ executions, targets }: StoredActions): Plan {
  const stored = new Map(executions.map((execution) => [execution.id, execution]));
  const planned = new Map<string, PlannedExecution>();
  const ofEvents = executions.filter(({ id }) => id === "event" || id.startsWith("event."));

  function plan(execution: StoredExecution): PlannedExecution {
    let made = planned.get(execution.id);
    if (made === undefined) {
      made = { id: execution.id, targets: expand(execution, stored, targets) };
      planned.set(execution.id, made);
    }
    return made;
  }

  return {
    isEmpty: executions.length === 0,
    eventsFrom: ofEvents
      .map(({ creationSequence }) => creationSequence)
      .reduce<bigint | undefined>((a, b) => (a === undefined || b < a ? b : a), undefined),
    find(candidates, at) {
      for (const id of candidates) {
        const execution = stored.get(id);
        if (execution === undefined) continue;
        if (at === undefined || execution.creationSequence < at) return plan(execution);
      }
      return undefined;
    },
  };
}

/** Own targets in their order, then those of each include in its place. Doubles stay. */
function expand(
  execution: StoredExecution,
  stored: ReadonlyMap<string, StoredExecution>,
  targets: StoredActions["targets"],
): PlannedTarget[] {
  const found: PlannedTarget[] = [];
  // Writing has proven that there is no cycle; a path is remembered all the same, since a reader may be between two writes.
  const walk = (id: string, path: readonly string[]): void => {
    const { targets: own, includes } = stored.get(id) ?? { targets: [], includes: [] };
    for (const targetId of own) {
      const target = targets.get(targetId);
      if (target !== undefined && found.length < mostTargets) found.push({ ...target, via: id });
    }
    for (const include of includes) {
      if (found.length >= mostTargets) return;
      if (!path.includes(include)) walk(include, [...path, include]);
    }
  };
  walk(execution.id, [execution.id]);
  return found;
}
