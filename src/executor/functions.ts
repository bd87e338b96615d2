import type { JsonObject } from "@bufbuild/protobuf";
import { type Awaitable, whenKnown } from "../awaitable.ts";
import type { MembershipReader } from "../authz/ports.ts";
import { permissionsFrom } from "../authz/permissions.ts";
import { executionWriter } from "../authz/roles.ts";
import { DomainError } from "../errors.ts";
import { candidates, type FunctionName } from "../resources/action/index.ts";
import { deepest, depthOf } from "../telemetry/request-id.ts";
import { type Additions, addAnswer, noAdditions } from "./claims.ts";
import { functionPayload } from "./payload.ts";
import type { Plan } from "./plan.ts";
import { tooDeep } from "./refusal.ts";
import type { Cause, Later, RunTargets } from "./run.ts";

/** In which instance, for whom and in which request a function is used. */
export type FunctionContext = {
  instanceId: string;
  /** Whom it is about; none yet where a user is about to be made. */
  userId: string | undefined;
  /** Of the HTTP request: it also tells how deep in calls of targets this is. */
  requestId: string;
  signal?: AbortSignal | undefined;
};

/**
 * Runs the execution of a function (X12), and gives what its targets add; nothing at no cost where there is none.
 *
 * @param payload gives, where an execution wants it, what targets are told beside the name: `userinfo` (the claims so far), `user`, `user_metadata`, `org`,
 *   `user_grants`, `application` (specification 11.2). What targets add to it is seen by those behind them.
 * @throws FAILED_PRECONDITION EXECUTION_FAILED, EXECUTION_DEPTH_EXCEEDED, or EXECUTION_REFUSED of a kind that the target
 *   chose, when a target with `interrupt_on_error` does not let it pass. Never for who may write executions: what the
 *   others have added until then counts (X10).
 */
export type RunFunction = (
  at: FunctionContext,
  name: FunctionName,
  payload: () => Promise<JsonObject>,
) => Awaitable<Additions>;

export function createRunFunction(parts: {
  planOf: (instanceId: string) => Awaitable<Plan>;
  runTargets: RunTargets;
  memberships: MembershipReader;
  start: (instanceId: string, depth: number, later: readonly Later[]) => Promise<void>;
}): RunFunction {
  const { planOf, memberships } = parts;

  async function mayRepair({ instanceId, userId }: FunctionContext): Promise<boolean> {
    if (userId === undefined) return false;
    const ofUser = await memberships.ofUser(instanceId, userId);
    return permissionsFrom(ofUser).holds(executionWriter, { type: "instance" });
  }

  async function run(
    plan: Plan,
    at: FunctionContext,
    name: FunctionName,
    makePayload: () => Promise<JsonObject>,
  ) {
    const execution = plan.find(candidates({ type: "function", name }));
    if (execution === undefined) return noAdditions();
    const payload = await makePayload();
    const { instanceId, signal } = at;
    const depth = depthOf(at.requestId);
    const later: Later[] = [];
    const cause: Cause = { type: "function", value: name };
    const known = payload["userinfo"];
    const userinfo = typeof known === "object" && !Array.isArray(known) ? (known ?? {}) : {};
    let additions = noAdditions();
    try {
      if (depth >= deepest) throw tooDeep(execution.id);
      await parts.runTargets({
        instanceId,
        execution,
        cause,
        depth,
        signal,
        later,
        payload() {
          const added = Object.fromEntries(additions.claims.map(({ key, value }) => [key, value]));
          return functionPayload(name, { ...payload, userinfo: { ...userinfo, ...added } });
        },
        accept(answer) {
          additions = addAnswer(additions, answer, (claim) => Object.hasOwn(userinfo, claim));
        },
      });
    } catch (error) {
      // It has been logged and recorded where it failed.
      if (!(error instanceof DomainError) || !(await mayRepair(at))) throw error;
    } finally {
      if (later.length > 0) await parts.start(instanceId, depth, later);
    }
    return additions;
  }

  return (at, name, payload) =>
    whenKnown(planOf(at.instanceId), (plan) =>
      plan.isEmpty ? noAdditions() : run(plan, at, name, payload),
    );
}
