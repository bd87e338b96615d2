import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { CallExecutions, HookedCall, RunAround } from "../authz/executions.ts";
import { type Awaitable, whenKnown } from "../awaitable.ts";
import { candidates } from "../resources/action/index.ts";
import { deepest } from "../telemetry/request-id.ts";
import { type CallFacts, requestPayload, responsePayload } from "./payload.ts";
import type { Plan, PlannedExecution } from "./plan.ts";
import { tooDeep } from "./refusal.ts";
import type { Cause, Later, RunTargets } from "./run.ts";

export function createCallExecutions(parts: {
  planOf: (instanceId: string) => Awaitable<Plan>;
  /** The project of an OAuth client; empty for what is no app. */
  projectOf: (instanceId: string, clientId: string) => Promise<string>;
  runTargets: RunTargets;
  start: (instanceId: string, depth: number, later: readonly Later[]) => Promise<void>;
}): CallExecutions {
  const { planOf, runTargets } = parts;

  const runOne = async (
    execution: PlannedExecution,
    type: "request" | "response",
    call: HookedCall,
    part: {
      payload: (secrets: boolean) => JsonObject;
      take: (json: JsonValue, secrets: boolean) => Awaitable<void>;
      later: Later[];
    },
  ): Promise<void> => {
    const { depth, signal, facts } = call;
    const { instanceId } = facts;
    const { payload, take, later } = part;
    const cause: Cause = { type, value: facts.fullMethod };
    await runTargets({
      instanceId,
      execution,
      cause,
      depth,
      signal,
      later,
      payload: ({ payloadSecrets }) => payload(payloadSecrets),
      accept: (json, { payloadSecrets }) => take(json, payloadSecrets),
    });
  };

  const runAround =
    (request: PlannedExecution | undefined, response: PlannedExecution | undefined): RunAround =>
    async (call, work) => {
      const { clientId, ...callFacts } = call.facts;
      if (call.depth >= deepest) throw tooDeep((request ?? response)?.id ?? "");
      const projectId = clientId && (await parts.projectOf(callFacts.instanceId, clientId));
      const facts: CallFacts = { ...callFacts, projectId };
      const later: Later[] = [];
      try {
        if (request !== undefined) {
          const payload = (secrets: boolean) => requestPayload(facts, call.request(secrets));
          await runOne(request, "request", call, { payload, take: call.takeRequest, later });
        }
        const { response: written, takeResponse } = await work();
        if (response !== undefined) {
          const payload = (secrets: boolean) =>
            responsePayload(facts, call.request(secrets), written(secrets));
          await runOne(response, "response", call, { payload, take: takeResponse, later });
        }
      } finally {
        if (later.length > 0) await parts.start(facts.instanceId, call.depth, later);
      }
    };

  return {
    of(fullMethod) {
      const onRequest = candidates({ type: "request", method: fullMethod });
      const onResponse = candidates({ type: "response", method: fullMethod });
      const around = (plan: Plan): RunAround | undefined => {
        if (plan.isEmpty) return undefined;
        const request = plan.find(onRequest);
        const response = plan.find(onResponse);
        const isNothing = request === undefined && response === undefined;
        return isNothing ? undefined : runAround(request, response);
      };
      return (instanceId) => whenKnown(planOf(instanceId), around);
    },
  };
}
