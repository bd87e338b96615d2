// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { ActionService } from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { assertRefused, restRefusal } from "../support/refusal.ts";
import { startAppWorld } from "./app-world.ts";

const { peer, addOwner, addForeignApp, allow } = await startAppWorld();
after(() => peer[Symbol.asyncDispose]());

const outranked = { code: 7, reason: "USER_OUTRANKS_CALLER" };
const url = "https://hooks.example.com/a";

describe("payload_secrets of a target (J14)", () => {
  it("is given only by who may do all that the owners of the instance may", async () => {
    const [owner, app] = [await addOwner(), await addForeignApp()];
    const access = { permissions: ["action.target.write", "action.target.read"], instance: true };
    bodyOf(await peer.patch(`/apps/${app.appId}`, { api_access: access }));
    const { access_token: token } = await allow(app, owner.loginName, "given");

    const target = () => ({ name: uniqueName("target"), rest_webhook: { url } });
    const asked = { ...target(), payload_secrets: true };
    assertRefused(restRefusal(await peer.post("/targets", asked, { token })), outranked);
    const { createTarget, patchTarget } = ActionService.method;
    const targetType = { case: "restWebhook" as const, value: { url } };
    const made = { target: { name: uniqueName("target"), targetType, payloadSecrets: true } };
    assertRefused(await peer.peer.call("grpc", createTarget, made, { token }), outranked);

    const { details } = bodyOf(await peer.post("/targets", target()), 201);
    const path = `/targets/${details.id}`;
    const given = { payload_secrets: true };
    assertRefused(restRefusal(await peer.patch(path, given, { token })), outranked);
    const patch = { id: String(details.id), target: { payloadSecrets: true } };
    assertRefused(await peer.peer.call("grpc", patchTarget, patch, { token }), outranked);
    assert.equal(bodyOf(await peer.get(path)).target.target.payload_secrets, undefined);
    bodyOf(await peer.patch(path, given));
    assert.equal(bodyOf(await peer.get(path)).target.target.payload_secrets, true);
  });
});
