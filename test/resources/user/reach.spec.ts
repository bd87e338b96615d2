// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { createLoginUsers } from "../../../src/login/users.ts";
import { userStore } from "../../../src/oidc/store/users.ts";
import { verifiedContactReader } from "../../../src/resources/user/index.ts";
import { assertRefused } from "../../support/refusal.ts";
import { bodyOf, uniqueName } from "../../support/peer.ts";
import { startUserPeer } from "./user-peer.ts";

const service = await startUserPeer();
const { post, put, deps, addOrganization, addMember, eventsOf } = service;
after(() => service[Symbol.asyncDispose]());
const { instance_id: instanceId, organization_id: defaultId } = service.app.made;

const people = createLoginUsers(deps);
const byContact = verifiedContactReader(deps.db);
const store = userStore({ ...deps, settings: { ownProjectId: () => "" } });
const told = (id: string, to: string | undefined) =>
  store.claims({ instanceId, issuer: "" } as never, id, to);

async function addPerson(ctx: string, contact: JsonObject, options = {}) {
  const body = { username: uniqueName("user"), data: { given_name: "A", family_name: "B" } };
  const query = `/users?ctx.org_id=${ctx}`;
  const answer = await post(query, { ...body, contact }, options);
  return String(bodyOf(answer, 201).details.id);
}

const kinds = [
  {
    kind: "email",
    next: () => ({ address: `${uniqueName("ada").replaceAll(" ", "-")}@example.com` }),
    claim: "email_verified",
  },
  {
    kind: "phone",
    next: () => ({ number: `+4179${String(Math.random()).slice(2, 9)}` }),
    claim: "phone_number_verified",
  },
] as const;

for (const { kind, next, claim } of kinds) {
  describe(`a verified mark of a ${kind} that no code proved`, () => {
    const textOf = (wanted: JsonObject) => String(Object.values(wanted)[0]);

    it("reaches no further than the organization whose owner set it", async () => {
      const home = await addOrganization();
      const other = await addOrganization();
      const owner = await addMember(home, ["ORG_OWNER"]);
      const wanted = next();
      const contact = { [kind]: { ...wanted, is_verified: true } };
      const id = await addPerson(home, contact, { token: owner.token });
      const [event] = (await eventsOf(id)).filter(({ type }) => type.endsWith(".verified"));
      assert.deepEqual(event?.payload, { reach: "organization" });
      assert.equal((await told(id, home))[claim], true);
      assert.equal((await told(id, other))[claim], false);
      assert.equal((await told(id, undefined))[claim], false);
      assert.equal(await byContact(instanceId, textOf(wanted), undefined, true), undefined);
      assert.equal(await byContact(instanceId, textOf(wanted), other), undefined);
      assert.equal(await people.find(instanceId, textOf(wanted), home), id);
      // On pages that name no organization only while nobody else has it proven.
      assert.equal(await people.find(instanceId, textOf(wanted), undefined), id);
      const proven = await addPerson(defaultId, { [kind]: wanted });
      const { verification_code } = bodyOf(
        await post(`/users/${proven}/${kind}/_resend`, { return_code: {} }),
      );
      bodyOf(await post(`/users/${proven}/${kind}/_verify`, verification_code));
      assert.equal(await people.find(instanceId, textOf(wanted), undefined), proven);
      assert.equal(await people.find(instanceId, textOf(wanted), home), id);
      assert.equal((await told(proven, other))[claim], true);
    });

    it("reaches through the instance where a code proves it, or who writes the instance vouches for it", async () => {
      const home = await addOrganization();
      const owner = await addMember(home, ["ORG_OWNER"]);
      const [wanted, vouched] = [next(), next()];
      const marked = { [kind]: { ...wanted, is_verified: true } };
      const id = await addPerson(home, marked, { token: owner.token });
      const { verification_code } = bodyOf(
        await post(`/users/${id}/${kind}/_resend`, { return_code: {} }),
      );
      bodyOf(await post(`/users/${id}/${kind}/_verify`, verification_code));
      assert.equal((await told(id, undefined))[claim], true);
      const verified = { code: 9, reason: "CONTACT_VERIFIED" };
      assertRefused((await post(`/users/${id}/${kind}/_resend`, {})).refusal, verified);
      bodyOf(await put(`/users/${id}/${kind}`, { ...vouched, is_verified: true }));
      assert.equal((await told(id, undefined))[claim], true);
      // Whoever vouches for less takes nothing from it.
      const again = { ...vouched, is_verified: true };
      bodyOf(await put(`/users/${id}/${kind}`, again, { token: owner.token }));
      assert.equal((await told(id, undefined))[claim], true);
    });

    it("takes no log-in from an earlier holder, and neither does a code", async () => {
      const wanted = next();
      const contact = { [kind]: { ...wanted, is_verified: true } };
      const earlier = await addPerson(defaultId, contact);
      const later = await addPerson(defaultId, { [kind]: wanted });
      const { verification_code } = bodyOf(
        await post(`/users/${later}/${kind}/_resend`, { return_code: {} }),
      );
      bodyOf(await post(`/users/${later}/${kind}/_verify`, verification_code));
      assert.equal(await people.find(instanceId, textOf(wanted), undefined), earlier);
      assert.equal(await people.find(instanceId, textOf(wanted), defaultId), earlier);
    });
  });
}
