import type { JsonObject } from "@bufbuild/protobuf";
import { ActionService } from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { list, ofService, type Sample, tooLong, tooLongId, webhook } from "./sample.ts";

/** The condition that the world has an execution for. */
export const condition = { request: { service: ActionService.typeName } };
const noTarget = (more: JsonObject = {}) => ({
  request: { id: "404", ...more },
  reason: "TARGET_NOT_FOUND",
});

export const actionSamples: Record<string, Sample> = ofService(ActionService.typeName, {
  CreateTarget: {
    valid: (_, turn) => ({ target: { name: `made ${turn}`, ...webhook() } }),
    invalid: { request: { target: { name: "", ...webhook() } }, field: "target.name" },
    unknown: undefined,
    writes: true,
  },
  PatchTarget: {
    valid: ({ targetId }, turn) => ({ id: targetId, target: { timeout: `${(turn % 270) + 1}s` } }),
    invalid: { request: { id: "1", target: { timeout: "271s" } }, field: "target.timeout" },
    unknown: noTarget({ target: { timeout: "3s" } }),
    writes: true,
  },
  DeleteTarget: {
    valid: async ({ newTarget }) => ({ id: await newTarget() }),
    invalid: tooLongId,
    unknown: noTarget(),
    writes: true,
  },
  GetTarget: {
    valid: ({ targetId }) => ({ id: targetId }),
    invalid: tooLongId,
    unknown: noTarget(),
    writes: false,
  },
  SearchTargets: {
    valid: () => ({
      query: { limit: 2, offset: "1", asc: true },
      sorting_column: "TARGET_FIELD_NAME_NAME",
      filters: [{ name: { name: "SAMPLE", method: "TEXT_FILTER_METHOD_STARTS_WITH_IGNORE_CASE" } }],
    }),
    invalid: {
      request: { filters: [{ name: { name: tooLong } }] },
      field: "filters[0].name.name",
    },
    unknown: undefined,
    writes: false,
  },
  PutExecution: {
    valid: ({ targetId }) => ({ execution: { condition, targets: [targetId] } }),
    invalid: { request: { execution: { condition } }, field: "execution" },
    unknown: {
      request: { execution: { condition, targets: ["404"] } },
      reason: "TARGET_NOT_FOUND",
    },
    writes: true,
  },
  DeleteExecution: {
    valid: async ({ setExecution }) => ({ id: await setExecution() }),
    invalid: tooLongId,
    unknown: { request: { id: "404" }, reason: "EXECUTION_NOT_FOUND" },
    writes: true,
  },
  SearchExecutions: {
    valid: ({ targetId }) => ({
      query: { limit: 5 },
      filters: [{ target: { id: targetId } }, { execution_type: { type: 1 } }],
    }),
    invalid: {
      request: { filters: [{ execution_type: { type: 99 } }] },
      field: "filters[0].execution_type.type",
    },
    unknown: undefined,
    writes: false,
  },
  ListAvailableExecutionFunctions: list,
  ListAvailableExecutionMethods: list,
  ListAvailableExecutionServices: list,
});
