// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { bodyOf } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";
import { idsOf, inContext, startIdpPeer, type IdpPeer } from "./idp-peer.ts";

let peer: IdpPeer;
before(async () => {
  peer = await startIdpPeer();
});
after(() => peer[Symbol.asyncDispose]());

describe("a provider of the instance, for the owner of an organization (decision 0285)", () => {
  it("is read, found and decided on in the organization that they name, and is not there without it", async () => {
    const organization = await peer.addOrganization();
    const owner = await peer.addMember(organization, ["ORG_OWNER"]);
    const id = await peer.addIdp();
    const path = `/idps/forge_b/${id}`;
    const notFound = { code: 5, reason: "IDP_NOT_FOUND" };
    const change = { idp: { state_policy: "STATE_POLICY_DEACTIVATE" } };
    assertRefused((await peer.get(path, owner)).refusal, notFound);
    assertRefused((await peer.patch(path, change, owner)).refusal, notFound);
    const { idp } = bodyOf(await peer.get(`${path}${inContext(organization)}`, owner));
    assert.equal(idp.state, "EFFECTIVE_STATE_ACTIVE");
    const headers = { "x-idsvc-orgid": organization };
    bodyOf(await peer.get(path, { ...owner, headers }));
    bodyOf(await peer.patch(`${path}${inContext(organization)}`, change, owner));
    assert.equal((await peer.idpOf(id)).state, "EFFECTIVE_STATE_ACTIVE");
    const found = await peer.search([], inContext(organization), owner.token);
    assert.ok(idsOf(found).includes(id));
  });
});
