import { type Condition, conditionId } from "./condition.ts";

/**
 * The ids of the executions that could run, most specific first; only the first that exists runs (X4).
 *
 * Method, then service, then all; exact event, then the deepest group, then all; the exact function.
 */
export function candidates(trigger: Trigger): string[] {
  switch (trigger.type) {
    case "request":
    case "response": {
      const [service = "", method = ""] = trigger.method.replace(/^\//, "").split("/");
      return [`${trigger.type}.${service}.${method}`, `${trigger.type}.${service}`, trigger.type];
    }
    case "event":
      return [`event.${trigger.eventType}`, ...groupsOf(trigger.eventType), "event"];
    case "function":
      return [`function.${trigger.name}`];
    default:
      return trigger satisfies never;
  }
}

/** Something that happens and may have an execution. */
export type Trigger =
  | { type: "request" | "response"; method: string }
  | { type: "event"; eventType: string }
  | { type: "function"; name: string };

function groupsOf(eventType: string): string[] {
  const segments = eventType.split(".").slice(0, -1);
  return segments
    .map((_, index) => {
      const value = segments.slice(0, index + 1).join(".");
      return conditionId({ type: "event", scope: "group", value } satisfies Condition);
    })
    .reverse();
}
