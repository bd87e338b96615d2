// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { pathOf } from "../support/login-pages.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { errorOf } from "../support/user-agent.ts";
import { startProviderWorld } from "../login/provider-world.ts";

const world = await startProviderWorld();
after(() => world[Symbol.asyncDispose]());
const { peer } = world;
const mailOf = (name: string) => `${uniqueName(name).replaceAll(" ", "")}@example.test`;

async function person(organizationId: string, address: string, token?: string): Promise<string> {
  const wanted = {
    username: uniqueName("user").replaceAll(" ", "-"),
    data: { given_name: "Ada" },
    contact: { email: { address, is_verified: true } },
  };
  const as = token === undefined ? {} : { token };
  const made = await peer.post(`/users?ctx.org_id=${organizationId}`, wanted, as);
  return String(bodyOf(made, 201).details.id);
}

describe("a link to a provider by what it calls its user (J9)", () => {
  it("is proposed by no mark that reaches not so far, by username as by mail", async () => {
    const home = await peer.addOrganization();
    const { token } = await peer.addMember(home, ["ORG_OWNER"]);
    for (const by of ["EMAIL", "USERNAME"]) {
      const auto_linking = `AUTO_LINKING_OPTION_${by}`;
      const idpId = await world.addForgeB({ options: { auto_linking } });
      const address = mailOf("marked");
      await person(home, address, token);
      world.fake.reset({ email: address, preferred_username: address });
      assert.equal(errorOf(await world.logIn(idpId)), "PROVIDER_NO_ACCOUNT", by);
      // By the word of whoever writes the instance it reaches through it.
      const known = mailOf("known");
      await person(home, known);
      world.fake.reset({ email: known, preferred_username: known });
      assert.equal(pathOf(await world.logIn(idpId)), "/ui/login/idp/account", by);
    }
  });

  it("is proposed by no address that the provider has not proven, nor one that two have", async () => {
    const { organization_id: home } = peer.app.made;
    const auto_linking = "AUTO_LINKING_OPTION_USERNAME";
    const idpId = await world.addForgeB({ options: { auto_linking } });
    const [alone, twice] = [mailOf("alone"), mailOf("twice")];
    for (const address of [alone, twice, twice]) await person(home, address);
    const said = [
      { preferred_username: alone, email: alone, email_verified: false },
      { preferred_username: alone, email: mailOf("other") },
      { preferred_username: twice, email: twice },
    ];
    for (const claims of said) {
      world.fake.reset(claims);
      const shown = await world.logIn(idpId);
      assert.equal(errorOf(shown), "PROVIDER_NO_ACCOUNT", JSON.stringify(claims));
    }
  });
});
