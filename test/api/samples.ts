import assert from "node:assert/strict";
import type { JsonObject } from "@bufbuild/protobuf";
import { ActionService } from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { FeatureService } from "#gen/idsvc/settings/feature/v3alpha/feature_service_pb.ts";
import type { Peer } from "../support/protocols.ts";

/** What stands in the store before a sample is called. */
export type World = {
  targetId: string;
  newTarget(): Promise<string>;
  setExecution(): Promise<string>;
};

/**
 * Requests of one method, as JSON of its request message: one that succeeds, one that breaks a rule of the schema with
 * the field that it breaks, and one that names what does not exist.
 */
export type Sample = {
  valid(world: World, turn: number): JsonObject | Promise<JsonObject>;
  /** Nothing where the request has no field that a rule could be about. */
  invalid: { request: JsonObject; field: string; reason?: string } | undefined;
  /** Nothing where the request names nothing. */
  unknown: { request: JsonObject; reason: string } | undefined;
  /** Reads answer the same message each time; writes answers of one shape. */
  writes: boolean;
};

const webhook = (url = "http://localhost:9999/hook") => ({ rest_webhook: { url } });
const condition = { request: { service: ActionService.typeName } };
const tooLong = "x".repeat(201);
const tooLongId = { request: { id: tooLong }, field: "id" };
const noTarget = (more: JsonObject = {}) => ({
  request: { id: "404", ...more },
  reason: "TARGET_NOT_FOUND",
});
const list: Sample = {
  valid: () => ({}),
  invalid: undefined,
  unknown: undefined,
  writes: false,
};
const unknownInstance = {
  request: { ctx: { instance_id: "404" } },
  reason: "INSTANCE_NOT_FOUND",
};

/** A sample of every method of every service, by path. */
export const samples: Readonly<Record<string, Sample>> = {
  ...ofService(ActionService.typeName, {
    CreateTarget: {
      valid: (_, turn) => ({ target: { name: `made ${turn}`, ...webhook() } }),
      invalid: { request: { target: { name: "", ...webhook() } }, field: "target.name" },
      unknown: undefined,
      writes: true,
    },
    PatchTarget: {
      valid: ({ targetId }, turn) => ({ id: targetId, target: { timeout: `${turn + 1}s` } }),
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
        filters: [
          { name: { name: "SAMPLE", method: "TEXT_FILTER_METHOD_STARTS_WITH_IGNORE_CASE" } },
        ],
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
  }),
  ...ofService(FeatureService.typeName, {
    SetFeatures: {
      valid: (_, turn) => ({ settings: { oidc_token_exchange: { set: turn % 2 === 0 } } }),
      invalid: {
        request: { settings: { oidc_token_exchange: {} } },
        field: "settings.oidc_token_exchange.value",
      },
      unknown: { ...unknownInstance, request: { ...unknownInstance.request, settings: {} } },
      writes: true,
    },
    ResolveFeatures: {
      valid: () => ({}),
      invalid: {
        request: { ctx: { system: false } },
        field: "ctx.system",
        reason: "CONTEXT_INVALID",
      },
      unknown: unknownInstance,
      writes: false,
    },
  }),
};

function ofService(typeName: string, methods: Record<string, Sample>): Record<string, Sample> {
  return Object.fromEntries(
    Object.entries(methods).map(([name, sample]) => [`/${typeName}/${name}`, sample]),
  );
}

/** Makes what the samples need. */
export async function makeWorld(peer: Peer, token: string): Promise<World> {
  let made = 0;
  const newTarget = async () => {
    const target = { name: `sample ${made++}`, ...webhook() };
    const { json, status } = await peer.rest("POST", "/resources/v3alpha/targets", target, {
      token,
    });
    assert.equal(status, 201);
    return String(Object(json).details.id);
  };
  const [targetId] = [await newTarget(), await newTarget(), await newTarget()];
  const setExecution = async () => {
    const execution = { condition, targets: [targetId] };
    const { status } = await peer.rest("POST", "/resources/v3alpha/executions", execution, {
      token,
    });
    assert.ok(status === 200 || status === 201);
    return `request.${ActionService.typeName}`;
  };
  await setExecution();
  return { targetId, newTarget, setExecution };
}
