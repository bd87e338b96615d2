import type { JsonValue } from "@bufbuild/protobuf";
import { DeliveryService } from "#gen/idsvc/resources/action/v3alpha/delivery_service_pb.ts";
import type { CallExecutions } from "../authz/executions.ts";
import type { MembershipReader } from "../authz/ports.ts";
import { service, type ServiceBinding } from "../authz/service.ts";
import type { EgressClient } from "../egress/client.ts";
import type { LoggedEvent } from "../eventstore/eventstore.ts";
import type { JobHandlers } from "../jobs/job.ts";
import type { Deps } from "../projection/module.ts";
import {
  type ActionPorts,
  cachedActions,
  signingKeyReader,
  targetReader,
} from "../resources/action/index.ts";
import type { MigratableDatabase } from "../storage/database.ts";
import { current } from "../storage/read-cache.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { createCallExecutions } from "./around-calls.ts";
import { createCallTarget } from "./call-target.ts";
import { createCircuits } from "./circuit.ts";
import { deliveryJobs } from "./delivery/deliver.ts";
import { followEvents } from "./delivery/follow.ts";
import { deliveryHandlers } from "./delivery/handlers.ts";
import { createRecords } from "./delivery/records.ts";
import { callLater } from "./delivery/work.ts";
import { createRunFunction, type RunFunction } from "./functions.ts";
import { createMeter } from "./meter.ts";
import type { MethodOf } from "./payload.ts";
import { createSemaphores } from "./semaphores.ts";
import { compilePlan } from "./plan.ts";
import { createRunTargets, type Later, type TargetCalled } from "./run.ts";

export type { Additions } from "./claims.ts";
export type { FunctionContext, RunFunction } from "./functions.ts";
export { executorModule } from "./module.ts";

/** Runs executions: calls targets when what their conditions name happens (specification 2.3, X1 to X13). */
export type Executor = {
  /** What the interceptors ask. */
  calls: CallExecutions;
  /** What the provider and the login ask at their points. */
  runFunction: RunFunction;
  services: ServiceBinding[];
  jobs: JobHandlers;
  measure(metrics: Metrics): void;
  /** Follows the events and writes records, until disposed. */
  start(): AsyncDisposable;
};

type Parts = {
  db: MigratableDatabase;
  outside: EgressClient;
  logger: Logger;
  memberships: MembershipReader;
  /** The methods that the process serves. */
  methodOf: MethodOf;
  /** Reads JSON of which every reader makes the same, or refuses it. */
  parseJson: (bytes: Uint8Array) => JsonValue;
};

export function createExecutor(deps: Deps & ActionPorts, parts: Parts): Executor {
  const { apps, events, secrets, newId, now } = deps;
  const { db, logger, methodOf } = parts;
  const planOf = cachedActions(db, compilePlan);
  const targetOf = targetReader(db);
  const circuits = createCircuits({ now: () => performance.now(), random: Math.random });
  const meter = createMeter();
  const records = createRecords(deps, (err) =>
    logger.error({ err }, "deliveries cannot be recorded"),
  );
  const callTarget = createCallTarget({
    outside: parts.outside,
    circuits,
    semaphores: createSemaphores(),
    signingKey: signingKeyReader(db, secrets),
    now,
  });

  const report = reporter(logger, meter);
  const runTargets = createRunTargets({
    callTarget,
    newId,
    parseJson: parts.parseJson,
    report(called) {
      report(called);
      records.add(called);
    },
  });

  const projectOf = async (instanceId: string, clientId: string): Promise<string> =>
    (await apps.byClientId(instanceId, clientId))?.projectId ?? "";

  async function start(instanceId: string, depth: number, later: readonly Later[]): Promise<void> {
    const at = { instanceId, newId, now: now() };
    const rows = await Promise.all(later.map((each) => callLater(secrets, at, depth, each)));
    await db.commit({ instanceId, expect: [], claims: [], events: [], changes: rows.flat() });
  }

  return {
    calls: createCallExecutions({ planOf, projectOf, runTargets, start }),
    runFunction: createRunFunction({ planOf, runTargets, memberships: parts.memberships, start }),
    services: [
      service(
        DeliveryService,
        deliveryHandlers(deps, { planOf: current(db, planOf), targetOf, callTarget, report }),
      ),
    ],
    jobs: deliveryJobs({
      events,
      secrets,
      newId,
      now,
      targetOf,
      methodOf,
      callTarget,
      circuits,
      report,
    }),
    measure: (metrics) => measure(metrics, meter, () => circuits.limits().size),
    start() {
      const following = followEvents({
        db,
        events,
        planOf,
        newId,
        now,
        onTooDeep: warnOfDepth(logger),
        onError: (err, instanceId) =>
          logger.error({ err, instanceId }, "events cannot be turned into deliveries"),
      });
      return {
        async [Symbol.asyncDispose]() {
          await following[Symbol.asyncDispose]();
          await records[Symbol.asyncDispose]();
        },
      };
    },
  };
}

function measure(
  metrics: Metrics,
  { calls, times }: ReturnType<typeof createMeter>,
  openCircuits: () => number,
): void {
  metrics.counter(
    "idsvc_target_calls_total",
    "Calls of targets, by cause (request, response, event, function, test) and outcome.",
    calls,
  );
  metrics.histogram(
    "idsvc_target_call_duration_seconds",
    "Time of a call of a target, waiting for a place included.",
    times,
  );
  metrics.gauge(
    "idsvc_target_circuits_open",
    "Targets that this process does not call now, because they failed too often.",
    () => [{ labels: {}, value: openCircuits() }],
  );
}

/** Tells of each call in the log, and counts it. */
const reporter =
  (logger: Logger, meter: ReturnType<typeof createMeter>) =>
  (called: TargetCalled): void => {
    meter.count(called);
    const { outcome, cause, ...ids } = called;
    const line = {
      ...ids,
      cause: cause.type,
      on: cause.value,
      status: outcome.status,
      ms: Math.round(outcome.durationMs * 1000) / 1000,
    };
    if (outcome.ok) logger.info(line, "target called");
    else logger.warn({ ...line, failure: outcome.failure }, "target failed");
  };

const warnOfDepth =
  (logger: Logger) =>
  ({ type, instanceId, sequence }: LoggedEvent, executionId: string): void => {
    const line = { instanceId, executionId, on: type, sequence: String(sequence) };
    logger.warn(line, "an event comes of so many targets that none is told of it");
  };
