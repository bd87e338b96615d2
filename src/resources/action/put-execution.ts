import type { Registry } from "../../authz/ports.ts";
import { instanceOwner, type Scope, writeContext } from "../../authz/context.ts";
import type { Transaction, Written } from "../../eventstore/transaction.ts";
import { allIds } from "../../projection/ids.ts";
import type { Deps } from "../../projection/module.ts";
import { conditionId, requireKnown } from "./execution/condition.ts";
import type { ExecutionConfig } from "./execution/events.ts";
import {
  type Execution,
  execution,
  maxIncludeLevels,
  putExecution,
  type Surroundings,
} from "./execution/execution.ts";
import { executionIncludes } from "./execution/projection.ts";
import { targets } from "./target/target.ts";

/** What executions ask of the service, beside what every slice may use. */
export type ActionPorts = { registry: Registry };

/**
 * Sets an execution: one decision over the execution, its targets, and the executions around it. All of them must be
 * unchanged when it commits, so no race makes a cycle or leaves the id of a target that is gone.
 */
export async function setExecution(
  { db, events, registry }: Deps & ActionPorts,
  scope: Scope,
  config: ExecutionConfig,
): Promise<{ written: Written; isNew: boolean }> {
  requireKnown(config.condition, {
    methods: registry.methods(),
    services: registry.services(),
    eventTypes: events.eventTypes,
  });
  const id = conditionId(config.condition);
  const [written, wasNew] = await events.transact(writeContext(scope), async (tx) => {
    const loaded = await tx.load(execution, id);
    const isNew = loaded.state === undefined;
    const around: Surroundings = {
      unknownTargets: await unknownTargets(tx, config.targets),
      included: await loadIncluded(tx, config.includes, id),
      includedBy: await loadIncluding(db, tx, scope.instanceId, id),
    };
    tx.record(execution, loaded, putExecution(loaded.state, config, around), instanceOwner(scope));
    return [tx.written(loaded), isNew];
  });
  return { written: written(), isNew: wasNew };
}

async function unknownTargets(tx: Transaction, ids: readonly string[]): Promise<string[]> {
  const unknown: string[] = [];
  for (const id of new Set(ids)) {
    if ((await tx.load(targets.aggregate, id)).state === undefined) unknown.push(id);
  }
  return unknown;
}

async function loadIncluded(tx: Transaction, includes: readonly string[], self: string) {
  const included = new Map<string, Execution>();
  let level = new Set(includes);
  // One level more than allowed is enough to see that it is too deep.
  for (let depth = 0; depth <= maxIncludeLevels && level.size > 0; depth++) {
    const next = new Set<string>();
    for (const id of level) {
      if (id === self || included.has(id)) continue;
      const { state } = await tx.load(execution, id);
      included.set(id, state);
      for (const include of state?.includes ?? []) next.add(include);
    }
    level = next;
  }
  return included;
}

async function loadIncluding(db: Deps["db"], tx: Transaction, instanceId: string, self: string) {
  const includedBy = new Map<string, string[]>();
  let level = new Set([self]);
  for (let depth = 0; depth <= maxIncludeLevels && level.size > 0; depth++) {
    const next = new Set<string>();
    for (const id of level) {
      if (includedBy.has(id)) continue;
      const including = { instanceId, includeId: id };
      const parents = await allIds(db, tx, executionIncludes, including, "executionId");
      includedBy.set(id, parents);
      for (const parent of parents) next.add(parent);
    }
    level = next;
  }
  return includedBy;
}
