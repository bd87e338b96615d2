import { isOneOf } from "../../../projection/rows.ts";
import {
  ExecutionSearchFilterSchema,
  ExecutionType,
} from "#gen/idsvc/resources/action/v3alpha/query_pb.ts";
import type { Deps } from "../../../projection/module.ts";
import { eq } from "../../../storage/drizzle.ts";
import type { Row } from "../../../storage/table.ts";
import { isListed } from "../../object/filters.ts";
import { objectSearch } from "../../object/queries.ts";
import { wordsOf } from "../../object/words.ts";
import { conditionId, toCondition } from "./condition.ts";
import { executionIncludes, executions, executionTargets } from "./projection.ts";

export type ExecutionRow = Row<typeof executions>;

const types = wordsOf(ExecutionType, "");

const targetsListed = { table: executionTargets, as: "targetId", of: "executionId" };
const includesListed = { table: executionIncludes, as: "includeId", of: "executionId" };

export function executionSearch(deps: Deps) {
  const { db } = deps;
  const t = db.table(executions);
  return objectSearch(deps, executions, {
    filter: ExecutionSearchFilterSchema,
    filters: {
      inConditions: ({ conditions }) =>
        isOneOf(
          t.id,
          conditions.map((each) => conditionId(toCondition(each))),
        ),
      executionType: ({ type }) => eq(t.type, types.word(type)),
      target: ({ id }) => isListed(db, t, targetsListed, id),
      include: ({ include }) => isListed(db, t, includesListed, include),
    },
  });
}
