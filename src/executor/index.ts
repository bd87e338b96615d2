import type { JsonValue } from "@bufbuild/protobuf";
import type { EgressClient } from "../egress/client.ts";
import type { Deps } from "../projection/module.ts";
import { cachedActions, signingKeyReader } from "../resources/action/index.ts";
import type { Logger } from "../telemetry/logger.ts";
import { type CallExecutions, createCallExecutions } from "./around-calls.ts";
import { createCallTarget } from "./call-target.ts";
import { createCircuits } from "./circuit.ts";
import { createMeter } from "./meter.ts";
import { createPlaces } from "./places.ts";
import { compilePlan } from "./plan.ts";
import { createRunTargets, type Told } from "./run.ts";

export type { Around, CallExecutions, HookedCall, HookedResponse } from "./around-calls.ts";

/** Runs executions: calls targets when what their conditions name happens (specification 2.3, decisions D). */
export type Executor = {
  /** What the interceptors ask. */
  calls: CallExecutions;
};

export function createExecutor(
  deps: Deps,
  parts: {
    outside: EgressClient;
    logger: Logger;
    /** Reads JSON of which every reader makes the same, or refuses it. */
    parseJson: (bytes: Uint8Array) => JsonValue;
  },
): Executor {
  const { db, secrets, newId, now } = deps;
  const planOf = cachedActions(db, compilePlan);
  const circuits = createCircuits({ now: () => performance.now(), random: Math.random });
  const places = createPlaces();
  const meter = createMeter();
  const callTarget = createCallTarget({
    outside: parts.outside,
    circuits,
    places,
    signingKey: signingKeyReader(db, secrets),
    now,
  });

  function tell(told: Told): void {
    meter.count(told);
    const { outcome, cause, ...ids } = told;
    const line = {
      ...ids,
      cause: cause.type,
      on: cause.value,
      status: outcome.status,
      ms: Math.round(outcome.durationMs * 1000) / 1000,
    };
    if (outcome.ok) parts.logger.info(line, "target called");
    else parts.logger.warn({ ...line, failure: outcome.failure }, "target failed");
  }

  const runTargets = createRunTargets({ callTarget, newId, parseJson: parts.parseJson, tell });
  return {
    calls: createCallExecutions({ planOf, runTargets, start: async () => {} }),
  };
}
