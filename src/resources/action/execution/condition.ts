import type { Condition as ConditionMessage } from "#gen/idsvc/resources/action/v3alpha/execution_pb.ts";
import { notFound } from "../../../errors.ts";

/** When an execution runs. `value` is empty for "all". */
export type Condition =
  | { type: "request" | "response"; scope: "method" | "service" | "all"; value: string }
  | { type: "event"; scope: "event" | "group" | "all"; value: string }
  | { type: "function"; scope: "function"; value: string };

/** The functions that a condition can name (X12). */
export const functions = [
  "postauthentication",
  "postcreation",
  "preaccesstoken",
  "precreation",
  "preidtoken",
  "preuserinfo",
] as const;
export type FunctionName = (typeof functions)[number];

const groupSuffix = ".*";

/**
 * The id of the execution of a condition: its type word and its value, joined by dots and free of slashes
 * (X1).
 */
export function conditionId({ type, scope, value }: Condition): string {
  switch (scope) {
    case "all":
      return type;
    case "method":
      return `${type}.${value.replace(/^\//, "").replace("/", ".")}`;
    case "group":
      return `${type}.${value}${groupSuffix}`;
    default:
      return `${type}.${value}`;
  }
}

/** A condition of the API as a value. Validation has proven that exactly one member is set. */
export function toCondition({ conditionType }: ConditionMessage): Condition {
  switch (conditionType.case) {
    case "request":
    case "response": {
      const { case: scope, value } = conditionType.value.condition;
      const type = conditionType.case;
      return scope === "method" || scope === "service"
        ? { type, scope, value }
        : { type, scope: "all", value: "" };
    }
    case "event": {
      const { case: scope, value } = conditionType.value.condition;
      if (scope === "event") return { type: "event", scope, value };
      if (scope !== "group") return { type: "event", scope: "all", value: "" };
      const group = value.endsWith(groupSuffix) ? value.slice(0, -groupSuffix.length) : value;
      return { type: "event", scope, value: group };
    }
    case "function":
      return { type: "function", scope: "function", value: conditionType.value };
    default:
      throw new Error("validation lets no condition without a member pass");
  }
}

/** The condition as the API writes it. */
export function fromCondition(condition: Condition) {
  const all = { case: "all" as const, value: true };
  switch (condition.type) {
    case "request":
    case "response": {
      const { type, scope, value } = condition;
      const member = scope === "all" ? all : { case: scope, value };
      return { conditionType: { case: type, value: { condition: member } } };
    }
    case "event": {
      const { scope, value } = condition;
      const member = scope === "all" ? all : { case: scope, value };
      return { conditionType: { case: "event" as const, value: { condition: member } } };
    }
    case "function":
      return { conditionType: { case: "function" as const, value: condition.value } };
    default:
      return condition satisfies never;
  }
}

/** What conditions can name in the running process. */
export type Known = {
  methods: readonly string[];
  services: readonly string[];
  eventTypes: readonly string[];
};

/** Whether the event lies in the group: whole dotted segments, `user` does not hold `user_schema.created` (C8). */
export const isInGroup = (eventType: string, group: string): boolean =>
  eventType.startsWith(`${group}.`);

/**
 * Refuses conditions that could never trigger (X3).
 *
 * @throws NOT_FOUND EXECUTION_CONDITION_UNKNOWN
 */
export function requireKnown({ scope, value }: Condition, known: Known): void {
  const lists: Record<Condition["scope"], () => boolean> = {
    all: () => true,
    method: () => known.methods.includes(value),
    service: () => known.services.includes(value),
    event: () => known.eventTypes.includes(value),
    group: () => known.eventTypes.some((type) => isInGroup(type, value)),
    function: () => functions.some((name) => name === value),
  };
  if (lists[scope]()) return;
  const list =
    scope === "event" || scope === "group"
      ? ""
      : `: /resources/v3alpha/executions/${scope}s lists what is`;
  throw notFound("EXECUTION_CONDITION_UNKNOWN", `there is no ${scope} "${value}"${list}`, {
    metadata: { kind: scope, value },
  });
}
