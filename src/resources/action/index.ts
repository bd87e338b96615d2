import type { Deps } from "../../projection/module.ts";
import type { ActionPorts } from "./put-execution.ts";
import { ActionService } from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { service } from "../../authz/service.ts";
import { resourceModule } from "../object/module.ts";
import { executionEvents } from "./execution/events.ts";
import { executionHandlers } from "./execution/handlers.ts";
import { executionProjection } from "./execution/projection.ts";
import { targetHandlers } from "./target/handlers.ts";
import { targets } from "./target/target.ts";

export {
  type Condition,
  type FunctionName,
  requireKnown,
  toCondition,
} from "./execution/condition.ts";
export type { ActionPorts } from "./put-execution.ts";
export { candidates } from "./execution/match.ts";
export {
  cachedActions,
  type StoredActions,
  type StoredExecution,
  type StoredTarget,
  type TargetOf,
  targetReader,
} from "./stored.ts";
export { signingKeyReader } from "./target/signing-key.ts";
export { targets } from "./target/target.ts";

/** Targets and executions: calls to systems outside when something happens inside (specification 4.1.1 and 4.1.2). */
export const actionModule = resourceModule<Deps & ActionPorts>([targets], {
  events: [executionEvents],
  projections: [executionProjection],
  services: (deps) => [
    service(ActionService, { ...targetHandlers(deps), ...executionHandlers(deps) }),
  ],
});
