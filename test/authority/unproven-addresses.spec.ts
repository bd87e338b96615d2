// Run: shared
import { fromJson, type DescMethod, type JsonObject } from "@bufbuild/protobuf";
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { bodyOf, startPeer, uniqueName } from "../support/peer.ts";
import { assertRefused } from "../support/refusal.ts";

const peer = await startPeer();
const { post } = peer;
after(() => peer[Symbol.asyncDispose]());
const { instance_id: instanceId } = peer.app.made;
const { method: of } = UserService;
const outranked = { code: 7, reason: "USER_OUTRANKS_CALLER" };

const ask = (protocol: "grpc" | "rest", method: DescMethod, request: JsonObject, token: string) =>
  peer.peer.call(protocol, method, fromJson(method.input, request), { token });

async function person(organizationId: string): Promise<string> {
  const username = uniqueName("user").replaceAll(" ", "-");
  const wanted = { username, data: { given_name: "Ada" } };
  const made = await post(`/users?ctx.org_id=${organizationId}`, wanted);
  return String(bodyOf(made, 201).details.id);
}

describe("codes that go to an address which the user has not proven (J1, J20)", () => {
  it("are asked for by nobody who does not cover the user: the address may be theirs", async () => {
    const organizationId = await peer.addOrganization();
    const manager = await peer.addMember(organizationId, ["ORG_OWNER"]);
    const id = await person(organizationId);
    const address = `${id}@manager.test`;
    bodyOf(await peer.put(`/users/${id}/email`, { address }, manager));
    const ctx = { instance_id: instanceId };
    bodyOf(await post("/memberships", { ctx, user_id: id, roles: ["IAM_OWNER_VIEWER"] }), 201);
    const asked: readonly [DescMethod, JsonObject][] = [
      [of.requestPasswordReset, { medium: { send_email: {} } }],
      [of.createWebAuthNRegistrationLink, { delivery: { send_link: {} } }],
      [of.resendContactEmailCode, { code: { send_code: {} } }],
    ];
    for (const [method, request] of asked) {
      for (const protocol of ["grpc", "rest"] as const) {
        const refused = await ask(protocol, method, { ...request, id }, manager.token);
        assertRefused(refused, outranked, `${method.name} over ${protocol}`);
      }
    }
    const email = { address, is_verified: true };
    bodyOf(await peer.put(`/users/${id}/email`, email));
    const proven = { id, medium: { send_email: {} } };
    const sent = await ask("grpc", of.requestPasswordReset, proven, manager.token);
    assert.ok(sent.ok, "a reset to a proven address needs the permission alone");
  });
});
