import { defineEvents, type EventOf, payload } from "../../../eventstore/event.ts";
import type { Condition } from "./condition.ts";

export type ExecutionConfig = { condition: Condition; targets: string[]; includes: string[] };

/** Facts about one execution; its id is that of its condition. */
export const executionEvents = defineEvents("execution", {
  set: payload<ExecutionConfig>(),
  removed: payload<Record<string, never>>(),
});

export type ExecutionEvent = EventOf<typeof executionEvents>;
