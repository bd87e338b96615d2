import assert from "node:assert/strict";
import type { JsonObject } from "@bufbuild/protobuf";
import { depsTold } from "../support/deps.ts";
import { bodyOf, startPeer } from "../support/peer.ts";
import type { CallOptions, RestAnswer } from "../support/protocols.ts";
import { assertRefused } from "../support/refusal.ts";

/** The owner of what is built in. */
export const system = { type: "OWNER_TYPE_SYSTEM", id: "" };

/** A service, and the two calls of one group of its settings, as the IAM_OWNER unless told otherwise. */
export async function startSettingsPeer(
  path: string,
  options: Parameters<typeof startPeer>[0] = {},
) {
  const told = depsTold();
  const service = await startPeer({ ...options, moreModules: [told.module] });
  const { app, peer } = service;
  const place = (query: string) => `/settings/v3alpha/${path}${query}`;
  const set = (settings: JsonObject, query = "", more: CallOptions = {}) =>
    peer.rest("PATCH", place(query), settings, { token: app.token, ...more });
  const resolve = (query = "", more: CallOptions = {}) =>
    peer.rest("GET", place(query), undefined, { token: app.token, ...more });
  const instanceId = app.made.instance_id;
  return Object.assign(service, {
    deps: told.deps(),
    instanceId,
    /** The instance as an owner. */
    instance: { type: "OWNER_TYPE_INSTANCE", id: instanceId },
    set,
    resolve,
    settingsOf: async (query = "") => bodyOf(await resolve(query)).settings,
    /** Types and payloads of the events of a context. */
    async eventsOf(type: string, id: string) {
      const found = await app.kernel.events.read({ instanceId, aggregate: { type, id } });
      return found.map(({ type: name, payload }) => [name, payload]);
    },
  });
}

/** The query that names an organization. */
export const of = (organization: string) => `?ctx.org_id=${organization}`;

export function assertDenied({ refusal }: RestAnswer, permission: string): void {
  assertRefused(refusal, { code: 7, reason: "PERMISSION_MISSING" });
  assert.deepEqual(refusal.metadata, { permission });
}

/** Every property as it is where nobody sets any. */
export const allBuiltIn = (values: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, { value, owner: system }]),
  );
