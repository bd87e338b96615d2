import type { ActionService } from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { writeContext } from "../../../authz/context.ts";
import type { Handlers } from "../../../authz/service.ts";
import type { Deps } from "../../../projection/module.ts";
import { toDetails, toInstanceOwnedDetails, toListDetails } from "../../object/details.ts";
import { removeExecution } from "../deletions.ts";
import { type ActionPorts, setExecution } from "../put-execution.ts";
import { fromCondition, functions, toCondition } from "./condition.ts";
import { executionSearch, type ExecutionRow } from "./queries.ts";

type ExecutionMethods =
  | "putExecution"
  | "deleteExecution"
  | "searchExecutions"
  | "listAvailableExecutionFunctions"
  | "listAvailableExecutionMethods"
  | "listAvailableExecutionServices";

const toGetExecution = (row: ExecutionRow) => ({
  details: toInstanceOwnedDetails(row),
  execution: {
    condition: fromCondition(row.condition),
    targets: row.targets,
    includes: row.includes,
  },
});

export function executionHandlers(
  deps: Deps & ActionPorts,
): Pick<Handlers<typeof ActionService>, ExecutionMethods> {
  const search = executionSearch(deps);
  return {
    async putExecution({ execution }, scope) {
      if (execution?.condition === undefined) {
        throw new Error("validation lets no request without condition pass");
      }
      const { targets, includes } = execution;
      const config = { condition: toCondition(execution.condition), targets, includes };
      const { written, isNew } = await setExecution(deps, scope, config);
      if (!isNew) scope.answer.httpStatus = 200;
      return { details: toDetails(written) };
    },

    deleteExecution: ({ id }, scope) => removeExecution(deps, writeContext(scope), id),

    async searchExecutions(request, scope) {
      const found = await search(scope, request);
      return { details: toListDetails(found), result: found.rows.map(toGetExecution) };
    },

    listAvailableExecutionFunctions: async () => ({ functions: [...functions] }),
    listAvailableExecutionMethods: async () => ({ methods: [...deps.registry.methods()] }),
    listAvailableExecutionServices: async () => ({ services: [...deps.registry.services()] }),
  };
}
