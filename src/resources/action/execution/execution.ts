import { failedPrecondition, notFound } from "../../../errors.ts";
import { aggregate, changedFields, isEmpty } from "../../../eventstore/aggregate.ts";
import { conditionId } from "./condition.ts";
import { type ExecutionConfig, type ExecutionEvent, executionEvents } from "./events.ts";

/** How deep includes may nest below an execution. */
export const maxIncludeLevels = 3;

export type Execution = ExecutionConfig | undefined;

export const execution = aggregate(executionEvents, undefined as Execution, evolve);

function evolve(_: Execution, event: ExecutionEvent): Execution {
  switch (event.type) {
    case "execution.set":
      return event.payload;
    case "execution.removed":
      return undefined;
    default:
      return event satisfies never;
  }
}

/** What surrounds an execution: all it includes, directly or not, and all that include it. */
export type Surroundings = {
  unknownTargets: readonly string[];
  /** By id; undefined for one that does not exist. */
  included: ReadonlyMap<string, Execution>;
  /** The ids that include an id. */
  includedBy: ReadonlyMap<string, readonly string[]>;
};

/**
 * Sets what an execution calls; both lists are replaced. Setting what is set already is no event (X3).
 *
 * @throws TARGET_NOT_FOUND, EXECUTION_INCLUDE_NOT_FOUND
 * @throws EXECUTION_INCLUDE_OF_OTHER_TYPE, EXECUTION_INCLUDE_CYCLE, EXECUTION_INCLUDES_TOO_DEEP
 */
export function putExecution(
  state: Execution,
  config: ExecutionConfig,
  around: Surroundings,
): ExecutionEvent[] {
  const id = conditionId(config.condition);
  const [unknownTarget] = around.unknownTargets;
  if (unknownTarget !== undefined) {
    throw notFound("TARGET_NOT_FOUND", "a target that the execution names does not exist", {
      metadata: { target: unknownTarget },
    });
  }
  for (const include of config.includes) requireIncludable(id, config, include, around);
  const below = levelsBelow(id, config.includes, around);
  const above = levelsAbove(id, around);
  if (below + above > maxIncludeLevels) {
    throw failedPrecondition(
      "EXECUTION_INCLUDES_TOO_DEEP",
      `includes may nest ${maxIncludeLevels} levels deep, these would nest ${below + above}`,
      { metadata: { maximum: String(maxIncludeLevels) } },
    );
  }
  if (state !== undefined && isEmpty(changedFields(state, config))) return [];
  return [executionEvents.set(config)];
}

function requireIncludable(
  id: string,
  { condition }: ExecutionConfig,
  include: string,
  around: Surroundings,
): void {
  if (include === id) throw cycle(include);
  const included = around.included.get(include);
  if (included === undefined) {
    throw notFound("EXECUTION_INCLUDE_NOT_FOUND", "an included execution does not exist", {
      metadata: { include },
    });
  }
  if (included.condition.type !== condition.type) {
    throw failedPrecondition(
      "EXECUTION_INCLUDE_OF_OTHER_TYPE",
      `an execution on a ${condition.type} can include only others on a ${condition.type}`,
      { metadata: { include } },
    );
  }
}

const cycle = (include: string) =>
  failedPrecondition(
    "EXECUTION_INCLUDE_CYCLE",
    "an execution cannot include itself, directly or not",
    {
      metadata: { include },
    },
  );

function levelsBelow(
  id: string,
  includes: readonly string[],
  { included }: Surroundings,
  path: readonly string[] = [id],
): number {
  let deepest = 0;
  for (const include of includes) {
    if (path.includes(include)) throw cycle(include);
    // A path that is too long already need not be followed to its end.
    if (path.length > maxIncludeLevels + 1) return path.length;
    const next = included.get(include)?.includes ?? [];
    deepest = Math.max(
      deepest,
      1 + levelsBelow(include, next, { ...empty, included }, [...path, include]),
    );
  }
  return deepest;
}

const empty: Surroundings = { unknownTargets: [], included: new Map(), includedBy: new Map() };

function levelsAbove(id: string, around: Surroundings, level = 0): number {
  if (level > maxIncludeLevels) return level;
  const parents = around.includedBy.get(id) ?? [];
  return Math.max(level, ...parents.map((parent) => levelsAbove(parent, around, level + 1)));
}

export function deleteExecution(state: Execution): ExecutionEvent[] {
  if (state === undefined) throw notFound("EXECUTION_NOT_FOUND", "the execution does not exist");
  return [executionEvents.removed({})];
}

const without = (list: "targets" | "includes") => (state: Execution, gone: string) =>
  state?.[list].includes(gone)
    ? [executionEvents.set({ ...state, [list]: state[list].filter((id) => id !== gone) })]
    : [];

/** Takes a target that is being deleted out of an execution; what remains may be empty and then calls nothing. */
export const withoutTarget = without("targets");
/** Takes an execution that is being deleted out of another one's includes. */
export const withoutInclude = without("includes");
