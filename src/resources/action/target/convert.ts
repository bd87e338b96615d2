import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  GetTargetSchema,
  PatchTarget,
  Target as TargetMessage,
} from "#gen/idsvc/resources/action/v3alpha/target_pb.ts";
import { toInstanceOwnedDetails } from "../../object/details.ts";
import { toDuration, toMs } from "../../object/duration.ts";
import type { TargetRow } from "./queries.ts";
import { defaultTimeoutMs, type TargetConfig } from "./target.ts";

function fromTargetType(type: TargetMessage["targetType"]): Partial<TargetConfig> {
  switch (type.case) {
    case "restWebhook":
      return { kind: "rest_webhook", url: type.value.url };
    case "restRequestResponse":
      return { kind: "rest_request_response", url: type.value.url };
    default:
      return {};
  }
}

// At most one of the two is on: switching one on switches the other off, switching one off leaves the other alone.
function fromExecutionType(type: TargetMessage["executionType"]): Partial<TargetConfig> {
  switch (type.case) {
    case "isAsync":
      return type.value ? { isAsync: true, interruptOnError: false } : { isAsync: false };
    case "interruptOnError":
      return type.value ? { isAsync: false, interruptOnError: true } : { interruptOnError: false };
    default:
      return {};
  }
}

/** The configuration of a new target. Validation has proven that it has a kind and a url. */
export const toConfig = (message: TargetMessage): TargetConfig => ({
  kind: "rest_webhook",
  url: "",
  isAsync: false,
  interruptOnError: false,
  payloadSecrets: message.payloadSecrets ?? false,
  name: message.name,
  timeoutMs: message.timeout === undefined ? defaultTimeoutMs : toMs(message.timeout),
  ...fromTargetType(message.targetType),
  ...fromExecutionType(message.executionType),
});

export const toChanges = (message: PatchTarget): Partial<TargetConfig> => ({
  ...(message.name === undefined ? {} : { name: message.name }),
  ...(message.timeout === undefined ? {} : { timeoutMs: toMs(message.timeout) }),
  ...(message.payloadSecrets === undefined ? {} : { payloadSecrets: message.payloadSecrets }),
  ...fromTargetType(message.targetType),
  ...fromExecutionType(message.executionType),
});

/** The url of a message that may carry one, and the path of its field. */
export function urlOf(
  type: TargetMessage["targetType"],
): { url: string; field: string } | undefined {
  const { kind, url } = fromTargetType(type);
  return url === undefined ? undefined : { url, field: `target.${kind}.url` };
}

export const toGetTarget = (row: TargetRow): MessageInitShape<typeof GetTargetSchema> => ({
  details: toInstanceOwnedDetails(row),
  target: {
    name: row.name,
    timeout: toDuration(row.timeoutMs),
    ...(row.payloadSecrets ? { payloadSecrets: true } : {}),
    targetType:
      row.kind === "rest_webhook"
        ? { case: "restWebhook", value: { url: row.url } }
        : { case: "restRequestResponse", value: { url: row.url } },
    executionType: row.isAsync
      ? { case: "isAsync", value: true }
      : row.interruptOnError
        ? { case: "interruptOnError", value: true }
        : { case: undefined },
  },
});
