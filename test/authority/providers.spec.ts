// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { bodyOf, startPeer, uniqueName } from "../support/peer.ts";
import { assertRefused } from "../support/refusal.ts";

const peer = await startPeer();
const { app, post, patch } = peer;
after(() => peer[Symbol.asyncDispose]());
const { instance_id: instanceId } = app.made;

const config = (host: string) => ({
  issuer: `https://${host}`,
  jwt_endpoint: `https://${host}/login`,
  keys_endpoint: `https://${host}/keys`,
  header_name: "x-jwt",
});

async function world() {
  const organizationId = await peer.addOrganization();
  const settings = await peer.addMember(organizationId, ["ORG_SETTINGS_MANAGER"]);
  const added = await post(`/idps/jwt?ctx.org_id=${organizationId}`, {
    idp: { name: uniqueName("idp") },
    config: config("good.test"),
  });
  const idpId = String(bodyOf(added, 201).details.id);
  const person = async (roles: string[]) => {
    const made = await post(`/users?ctx.org_id=${organizationId}`, {
      username: uniqueName("user").replaceAll(" ", "-"),
      data: { given_name: "Ada" },
    });
    const id = String(bodyOf(made, 201).details.id);
    const link = { idp_id: idpId, user_id: `external-${id}`, username: "ada" };
    bodyOf(await post(`/users/${id}/idps`, { link }));
    if (roles.length > 0) {
      const context = roles[0]?.startsWith("IAM_")
        ? { instance_id: instanceId }
        : { org_id: organizationId };
      bodyOf(await post("/memberships", { ctx: context, user_id: id, roles }), 201);
    }
    return id;
  };
  const suspended = async (id: string): Promise<boolean> => {
    const { result } = bodyOf(await post(`/users/${id}/idps/_search`, []));
    return result[0].suspended;
  };
  return { organizationId, settings, idpId, person, suspended };
}

describe("who answers for an identity provider (J1a)", () => {
  it("whoever points it elsewhere suspends the links of users whom they do not cover", async () => {
    const { settings, idpId, person, suspended } = await world();
    const [owner, nobody] = [await person(["IAM_OWNER"]), await person([])];
    const keys = { config: { keys_endpoint: "https://evil.test/keys" } };
    const answer = bodyOf(await patch(`/idps/jwt/${idpId}`, keys, settings));
    assert.equal(answer.suspended_links, 1);
    assert.deepEqual([await suspended(owner), await suspended(nobody)], [true, false]);
  });

  it("whoever covers them changes it, and nothing is suspended", async () => {
    const { organizationId, idpId, person, suspended } = await world();
    const id = await person(["ORG_USER_MANAGER"]);
    const owner = await peer.addMember(organizationId, ["ORG_OWNER"]);
    const answer = bodyOf(await patch(`/idps/jwt/${idpId}`, { config: config("new.test") }, owner));
    assert.equal(answer.suspended_links, 0);
    assert.equal(await suspended(id), false);
  });

  it("another name or option changes nobody who answers", async () => {
    const { settings, idpId, person, suspended } = await world();
    const id = await person(["IAM_OWNER"]);
    const change = { idp: { name: uniqueName("idp"), options: { is_linking_allowed: true } } };
    assert.equal(bodyOf(await patch(`/idps/jwt/${idpId}`, change, settings)).suspended_links, 0);
    assert.equal(await suspended(id), false);
  });

  for (const [option, what] of [
    ["is_second_factor", "as a second factor"],
    ["is_email_trusted", "for addresses"],
    ["is_phone_trusted", "for phone numbers"],
  ] as const) {
    it(`so does whoever lets its word count ${what}, and nobody who takes that back`, async () => {
      const { settings, idpId, person, suspended } = await world();
      const [owner, nobody] = [await person(["IAM_OWNER"]), await person([])];
      const counting = (counts: boolean, by?: { token: string }) =>
        patch(`/idps/jwt/${idpId}`, { idp: { options: { [option]: counts } } }, by);
      assert.equal(bodyOf(await counting(true)).suspended_links, 0);
      assert.equal(bodyOf(await counting(false, settings)).suspended_links, 0);
      assert.equal(await suspended(owner), false);
      assert.equal(bodyOf(await counting(true, settings)).suspended_links, 1);
      assert.deepEqual([await suspended(owner), await suspended(nobody)], [true, false]);
      const { idp } = bodyOf(await peer.get(`/idps/jwt/${idpId}`));
      assert.equal(idp.idp.idp.options[option], true);
    });
  }

  it("_confirm gives back those whom the caller covers, and tells how many stay", async () => {
    const { organizationId, settings, idpId, person, suspended } = await world();
    const [owner, manager] = [await person(["IAM_OWNER"]), await person(["ORG_USER_MANAGER"])];
    bodyOf(await patch(`/idps/jwt/${idpId}`, { config: config("evil.test") }, settings));
    const path = `/idps/${idpId}/_confirm`;
    const links = (by?: { token: string }) => post(path, undefined, by).then((a) => bodyOf(a));
    const none = await links(settings);
    assert.deepEqual([none.confirmed_links, none.suspended_links], [0, 2]);
    const some = await links(await peer.addMember(organizationId, ["ORG_OWNER"]));
    assert.deepEqual([some.confirmed_links, some.suspended_links], [1, 1]);
    assert.deepEqual([await suspended(owner), await suspended(manager)], [true, false]);
    const all = await links();
    assert.deepEqual([all.confirmed_links, all.suspended_links], [1, 0]);
    const stranger = await peer.addMember(organizationId, ["ORG_USER_MANAGER"]);
    assertRefused((await post(path, undefined, stranger)).refusal, {
      code: 7,
      reason: "PERMISSION_MISSING",
    });
  });

  it("J20: a user who comes to power keeps a link to it only where who answers for it covers them", async () => {
    const { organizationId, settings, person, suspended, idpId } = await world();
    bodyOf(await patch(`/idps/jwt/${idpId}`, { config: config("theirs.test") }, settings));
    const id = await person([]);
    const ctx = { org_id: organizationId };
    bodyOf(await post("/memberships", { ctx, user_id: id, roles: ["ORG_OWNER"] }), 201);
    assert.equal(await suspended(id), true);
  });
});
