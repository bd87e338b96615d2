import { and, eq, inArray } from "../../../storage/drizzle.ts";
import {
  type ExecutionSearchFilter,
  ExecutionType,
} from "#gen/idsvc/resources/action/v3alpha/query_pb.ts";
import type { Deps } from "../../../projection/module.ts";
import { type Found, isOneOf, type Page, search } from "../../../projection/search.ts";
import type { Database } from "../../../storage/database.ts";
import type { Row } from "../../../storage/table.ts";
import { conditionId, toCondition } from "./condition.ts";
import { executionIncludes, executions, executionTargets } from "./projection.ts";

export type ExecutionRow = Row<typeof executions>;

const typeWords: Record<number, string> = {
  [ExecutionType.REQUEST]: "request",
  [ExecutionType.RESPONSE]: "response",
  [ExecutionType.EVENT]: "event",
  [ExecutionType.FUNCTION]: "function",
};

/** The ids of the executions that list the target. */
export async function executionsOfTarget(db: Database, instanceId: string, targetId: string) {
  const t = db.table(executionTargets);
  const rows = await db.read
    .select({ id: t.executionId })
    .from(t)
    .where(and(eq(t.instanceId, instanceId), eq(t.targetId, targetId)));
  return rows.map(({ id }) => id);
}

/** The ids of the executions that include this one. */
export async function executionsIncluding(db: Database, instanceId: string, includeId: string) {
  const t = db.table(executionIncludes);
  const rows = await db.read
    .select({ id: t.executionId })
    .from(t)
    .where(and(eq(t.instanceId, instanceId), eq(t.includeId, includeId)));
  return rows.map(({ id }) => id);
}

export function searchExecutions(
  { db, limits }: Pick<Deps, "db" | "limits">,
  instanceId: string,
  asked: { filters: ExecutionSearchFilter[]; page: Page },
): Promise<Found<ExecutionRow>> {
  const t = db.table(executions);
  const inTargets = db.table(executionTargets);
  const inIncludes = db.table(executionIncludes);

  const condition = ({ filter }: ExecutionSearchFilter) => {
    switch (filter.case) {
      case "inConditions":
        return isOneOf(
          t.id,
          filter.value.conditions.map((each) => conditionId(toCondition(each))),
        );
      case "executionType":
        return eq(t.type, typeWords[filter.value.type] ?? "");
      case "target":
        return inArray(
          t.id,
          db.read
            .select({ id: inTargets.executionId })
            .from(inTargets)
            .where(
              and(eq(inTargets.instanceId, instanceId), eq(inTargets.targetId, filter.value.id)),
            ),
        );
      case "include":
        return inArray(
          t.id,
          db.read
            .select({ id: inIncludes.executionId })
            .from(inIncludes)
            .where(
              and(
                eq(inIncludes.instanceId, instanceId),
                eq(inIncludes.includeId, filter.value.include),
              ),
            ),
        );
      default:
        return undefined;
    }
  };
  return search(db, executions, {
    instanceId,
    filters: asked.filters.map(condition),
    order: t.creationDate,
    page: asked.page,
    limits,
  });
}
