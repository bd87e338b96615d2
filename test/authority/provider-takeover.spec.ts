// Run: shared
import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { type ProviderWorld, startProviderWorld } from "../login/provider-world.ts";
import { bodyOf } from "../support/peer.ts";
import { userAgent } from "../support/user-agent.ts";

let world: ProviderWorld;
before(async () => {
  world = await startProviderWorld();
});
after(() => world[Symbol.asyncDispose]());

const urls = { success_url: "https://rp.test/ok", failure_url: "https://rp.test/failed" };

it("whoever points a provider elsewhere does not log in as those who are linked to it", async () => {
  const { peer, fake, other } = world;
  const org = await peer.addOrganization();
  const idpId = await world.addForgeB({ options: { is_linking_allowed: true }, org });
  const id = await peer.addPerson({}, org);
  const link = { idp_id: idpId, user_id: fake.script.user.sub };
  bodyOf(await peer.post(`/users/${id}/idps`, { link }));
  const ctx = { instance_id: peer.app.made.instance_id };
  bodyOf(await peer.post("/memberships", { ctx, user_id: id, roles: ["IAM_OWNER"] }), 201);

  const logIn = async () => {
    const { auth_url } = bodyOf(
      await peer.post("/idp_intents", { idp_id: idpId, urls, ctx: { org_id: org } }),
    );
    const back = await world.visit(new URL(auth_url));
    const { left } = await userAgent(peer.issuer).open(back);
    const idp_intent = {
      idp_intent_id: left?.searchParams.get("id") ?? "",
      idp_intent_token: left?.searchParams.get("token") ?? "",
    };
    return peer.post("/sessions", { checks: { user: { user_id: id }, idp_intent } });
  };
  assert.equal((await logIn()).status, 201, "the provider itself logs its user in");

  // The other provider says of whoever comes that they are the owner.
  other.script.user = { ...other.script.user, sub: fake.script.user.sub };
  const { issuer, clientId: client_id, secret: client_secret } = other;
  const elsewhere = { config: { issuer, client_id, client_secret } };
  const weaker = await peer.addMember(org, ["ORG_SETTINGS_MANAGER"]);
  bodyOf(await peer.patch(`/idps/forge_b/${idpId}`, elsewhere, weaker));
  const taken = await logIn();
  assert.notEqual(taken.status, 201);
  assert.equal(Object(taken.json).session_token, undefined);
});
