import {
  type ActionPorts,
  candidates,
  type Condition,
  requireKnown,
  targets,
  toCondition,
  type TargetOf,
} from "../../resources/action/index.ts";
import type { DeliveryService } from "#gen/idsvc/resources/action/v3alpha/delivery_service_pb.ts";
import { editorOf, type Scope, writeContext } from "../../authz/context.ts";
import type { Handlers } from "../../authz/service.ts";
import type { Deps } from "../../projection/module.ts";
import { toListDetails } from "../../resources/object/details.ts";
import { depthOf } from "../../telemetry/request-id.ts";
import type { CallTarget } from "../call-target.ts";
import type { Plan } from "../plan.ts";
import type { TargetCalled } from "../run.ts";
import { toDelivery } from "./convert.ts";
import { deliverySearch, getDelivery } from "./queries.ts";
import { redeliver } from "./redeliver.ts";
import { addTried } from "./table.ts";

type Parts = {
  /** What is stored now, on whichever replica. */
  planOf: (instanceId: string) => Promise<Plan>;
  targetOf: TargetOf;
  callTarget: CallTarget;
  report: (called: TargetCalled) => void;
};

export function deliveryHandlers(
  deps: Deps & ActionPorts,
  parts: Parts,
): Handlers<typeof DeliveryService> {
  const { db, events, newId, now, registry } = deps;
  const search = deliverySearch(deps);

  async function test(targetId: string, scope: Scope): Promise<string> {
    const { instanceId, caller, signal, requestId } = scope;
    const target = await parts.targetOf(instanceId, targetId);
    if (target === undefined) throw targets.missing();
    const deliveryId = newId();
    const userID = editorOf(caller);
    const outcome = await parts.callTarget({
      instanceId,
      target,
      deliveryId,
      signal,
      isTest: true,
      wantsAnswer: false,
      depth: depthOf(requestId),
      body: JSON.stringify({ test: true, instanceID: instanceId, targetID: targetId, userID }),
    });
    const cause = { type: "test" as const, value: "" };
    const about = { instanceId, deliveryId, executionId: "", targetId, cause };
    parts.report({ ...about, attempt: 1, outcome });
    const change = addTried({ ...about, eventSequence: 0n }, 1, outcome, now());
    await db.commit({ instanceId, expect: [], claims: [], events: [], changes: [change] });
    return deliveryId;
  }

  return {
    async searchDeliveries(request, scope) {
      const found = await search(scope, request);
      return { details: toListDetails(found), result: found.rows.map(toDelivery) };
    },

    async redeliverDelivery({ id }, scope) {
      const at = writeContext(scope);
      return { delivery: toDelivery(await redeliver(deps, parts.targetOf, at, id)) };
    },

    async testTarget({ id }, scope) {
      const deliveryId = await test(id, scope);
      return { delivery: toDelivery(await getDelivery(db, scope.instanceId, deliveryId)) };
    },

    async matchExecution({ condition: asked }, { instanceId }) {
      if (asked === undefined) throw new Error("validation lets no request without condition pass");
      const condition = toCondition(asked);
      requireKnown(condition, {
        methods: registry.methods(),
        services: registry.services(),
        eventTypes: events.eventTypes,
      });
      const ids = candidatesOf(condition);
      const plan = await parts.planOf(instanceId);
      const execution = plan.find(ids);
      return {
        ...(execution === undefined ? {} : { executionId: execution.id }),
        candidates: ids.map((id) => ({
          executionId: id,
          exists: plan.find([id]) !== undefined,
          runs: id === execution?.id,
        })),
        targets: (execution?.targets ?? []).map(({ id, via, isAsync, interruptOnError }) => ({
          targetId: id,
          viaExecutionId: via,
          isAsync,
          interruptOnError,
        })),
      };
    },
  };
}

/** The executions that could run for what the condition names, the most specific first. */
function candidatesOf({ type, scope, value }: Condition): string[] {
  switch (scope) {
    case "method":
      return candidates({ type, method: value });
    case "service":
      return [`${type}.${value}`, type];
    case "all":
      return [type];
    case "event":
      return candidates({ type: "event", eventType: value });
    case "group":
      // As an event of the group that nothing names.
      return candidates({ type: "event", eventType: `${value}.` }).slice(1);
    case "function":
      return candidates({ type: "function", name: value });
  }
}
