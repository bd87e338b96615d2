import { type Awaitable, whenKnown } from "../../awaitable.ts";
import type { LoggedEvent, EventStore } from "../../eventstore/eventstore.ts";
import { subscribe } from "../../eventstore/subscription.ts";
import { candidates } from "../../resources/action/index.ts";
import type { MigratableDatabase } from "../../storage/database.ts";
import type { RowChange } from "../../storage/row-change.ts";
import { deepest, depthOf } from "../../telemetry/request-id.ts";
import type { Plan } from "../plan.ts";
import { deliverEvent } from "./work.ts";

/**
 * Turns events into deliveries, each once: the deliveries of a batch and the cursor behind it are one unit. An event
 * concerns the executions that were set before it; a loop of targets and events ends where one of calls does
 * (X9, X10).
 */
export function followEvents(parts: {
  db: MigratableDatabase;
  events: EventStore;
  planOf: (instanceId: string) => Awaitable<Plan>;
  newId: () => string;
  now: () => Date;
  onTooDeep: (event: LoggedEvent, executionId: string) => void;
  onError: (error: unknown, instanceId: string) => void;
}): AsyncDisposable {
  const { db, events, planOf } = parts;
  const byType = new Map<string, string[]>();
  const candidatesOf = (eventType: string): string[] => {
    let ids = byType.get(eventType);
    if (ids === undefined) byType.set(eventType, (ids = candidates({ type: "event", eventType })));
    return ids;
  };

  async function consume(batch: LoggedEvent[], instanceId: string): Promise<RowChange[]> {
    const plan = await planOf(instanceId);
    const at = { instanceId, newId: parts.newId, now: parts.now() };
    return batch.flatMap((event) => {
      const execution = plan.find(candidatesOf(event.type), event.sequence);
      if (execution === undefined) return [];
      const depth = depthOf(event.requestId);
      const { id: executionId, targets } = execution;
      if (depth < deepest) return deliverEvent(at, event, { executionId, depth, targets });
      parts.onTooDeep(event, executionId);
      return [];
    });
  }

  const eventsFrom = ({ eventsFrom: from }: Plan) => from;
  return subscribe({
    db,
    events,
    name: "executor.events",
    from: (instanceId) => whenKnown(planOf(instanceId), eventsFrom),
    consume,
    onError: parts.onError,
  });
}
