// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { ActionService } from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { OrganizationService } from "#gen/idsvc/resources/org/v3alpha/organization_service_pb.ts";
import { addCaller } from "../support/app.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { messageOf, protocols } from "../support/protocols.ts";
import { assertRefused, restRefusal } from "../support/refusal.ts";
import { startExecutorPeer, until } from "./executor-peer.ts";

const peer = await startExecutorPeer();
after(() => peer[Symbol.asyncDispose]());
const { token } = peer.app;

/** A target that interrupts, at an address where nobody listens. */
const breaking = async () => {
  const rest_webhook = { url: "http://127.0.0.1:1999/nobody" };
  return (await peer.webhook({ interrupt_on_error: true, rest_webhook })).id;
};
const action = ActionService.typeName;
const methods = ActionService.methods.map(({ name }) => `/${action}/${name}`);

const conditions: JsonObject[] = [
  { request: { all: true } },
  { response: { all: true } },
  { request: { service: action } },
  { response: { service: action } },
  ...methods.flatMap((method) => [{ request: { method } }, { response: { method } }]),
  { event: { all: true } },
  { event: { group: "execution" } },
  { event: { event: "execution.removed" } },
  ...["preuserinfo", "preaccesstoken", "preidtoken"].map((name) => ({ function: name })),
  ...["postauthentication", "precreation", "postcreation"].map((name) => ({ function: name })),
];

describe("D69: executions that break every call", () => {
  it("never keep a holder of action.execution.write from removing them, on whatever condition", async () => {
    const target = await breaking();
    const ids: string[] = [];
    for (const condition of conditions) ids.push(await peer.set(condition, [target]));
    assertRefused(restRefusal(await peer.post("/organizations", { name: uniqueName() })), {
      code: 9,
      reason: "EXECUTION_FAILED",
    });
    const found = bodyOf(await peer.post("/executions/_search?query.limit=1000", []));
    assert.equal(found.result.length, conditions.length);
    bodyOf(await peer.patch(`/targets/${target}`, { timeout: "1s" }));
    for (const id of ids) bodyOf(await peer.remove(`/executions/${id}`));
    bodyOf(await peer.remove(`/targets/${target}`));
    bodyOf(await peer.post("/organizations", { name: uniqueName() }), 201);
  });

  for (const protocol of protocols) {
    it(`can be removed over ${protocol}`, async () => {
      const target = await breaking();
      for (const condition of [{ request: { all: true } }, { response: { all: true } }]) {
        const id = await peer.set(condition, [target]);
        const search = OrganizationService.method.searchOrganizations;
        const refused = await peer.peer.call(protocol, search, {}, { token });
        assertRefused(refused, { code: 9, reason: "EXECUTION_FAILED" });
        const { deleteExecution } = ActionService.method;
        messageOf(await peer.peer.call(protocol, deleteExecution, { id }, { token }));
        messageOf(await peer.peer.call(protocol, search, {}, { token }));
      }
    });
  }

  it("bind who may only read them", async () => {
    const viewer = await addCaller(peer.app, ["IAM_OWNER_VIEWER"]);
    const id = await peer.set({ request: { all: true } }, [await breaking()]);
    const search = await peer.post("/executions/_search", [], { token: viewer.token });
    assertRefused(restRefusal(search), { code: 9, reason: "EXECUTION_FAILED" });
    bodyOf(await peer.remove(`/executions/${id}`));
  });

  it("can be removed after the feature was switched off: the flags can be switched on again", async () => {
    const id = await peer.set({ request: { all: true } }, [await breaking()]);
    const flag = async (set: boolean) => {
      const body = { multitenancy_resources_api: { set } };
      const path = "/settings/v3alpha/features";
      return bodyOf(await peer.peer.rest("PATCH", path, body, { token }));
    };
    await flag(false);
    assertRefused(restRefusal(await peer.remove(`/executions/${id}`)), {
      code: 9,
      reason: "FEATURE_DISABLED",
    });
    // What was set goes on running (specification 4.1.2).
    assertRefused(restRefusal(await peer.post("/organizations/_search", [])), {
      code: 9,
      reason: "EXECUTION_FAILED",
    });
    await flag(true);
    bodyOf(await peer.remove(`/executions/${id}`));
  });
});

describe("D69: a target that calls back", () => {
  const loop = async (forwarded: boolean) => {
    const calls: string[] = [];
    let pending = 0;
    peer.receiver.calls.length = 0;
    peer.receiver.each("/loop", async ({ headers }) => {
      calls.push(String(headers["idsvc-depth"]));
      const depth = forwarded ? { "idsvc-depth": String(headers["idsvc-depth"]) } : {};
      pending += 1;
      const answer = await peer.post("/organizations/_search", [], { headers: depth });
      pending -= 1;
      return { status: answer.status === 200 ? 200 : 500 };
    });
    const target = await peer.webhook({ timeout: "2s" }, "/loop");
    const id = await peer.set({ request: { all: true } }, [target.id]);
    const answer = await peer.post("/organizations/_search", []);
    await until("the end of the loop", () => pending === 0);
    bodyOf(await peer.remove(`/executions/${id}`));
    return { calls, answer };
  };

  it("with the depth it was told is stopped at the fourth call", async () => {
    const { calls, answer } = await loop(true);
    assert.deepEqual(calls, ["1", "2", "3"]);
    bodyOf(answer);
  });

  it("without it comes to an end all the same, and leaves others their answers", async () => {
    const { calls, answer } = await loop(false);
    bodyOf(answer);
    const heard = calls.length;
    assert.ok(heard <= 200, `${heard} calls`);
    bodyOf(await peer.post("/organizations", { name: uniqueName() }), 201);
    assert.equal(calls.length, heard);
  });

  it("cannot get by executions with a depth that it makes up: the call is refused", async () => {
    const target = await peer.webhook({}, "/seen");
    const id = await peer.set({ request: { all: true } }, [target.id]);
    for (const depth of ["3", "9", "17", "-1", "0x1", "one", "1, 2"]) {
      const headers = { "idsvc-depth": depth };
      const answer = await peer.post("/organizations/_search", [], { headers });
      assertRefused(restRefusal(answer), { code: 9, reason: "EXECUTION_DEPTH_EXCEEDED" }, depth);
    }
    bodyOf(await peer.remove(`/executions/${id}`));
  });
});
