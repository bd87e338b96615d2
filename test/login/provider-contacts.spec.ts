// Run: shared
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { addPersonNamed, signIn } from "../support/login.ts";
import { codeIn, pathOf } from "../support/login-pages.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { errorOf } from "../support/user-agent.ts";
import { type ProviderWorld, startProviderWorld } from "./provider-world.ts";

let world: ProviderWorld;
before(async () => {
  world = await startProviderWorld();
});
after(() => world[Symbol.asyncDispose]());
beforeEach(() => world.fake.reset());

const contactOf = async (userId: string) =>
  bodyOf(await world.peer.get(`/users/${userId}`)).user.user.contact;
const mailOf = (name: string) => `${uniqueName(name).replace(" ", "")}@example.test`;
const created = async (options = {}, org?: string) => {
  const idpId = await world.addForgeB({
    options: { is_auto_creation: true, ...options },
    ...(org && { org }),
  });
  const { sub } = await world.claimsOf(await world.logIn(idpId));
  return { idpId, sub: String(sub) };
};

describe("the phone number that a provider says", () => {
  it("is stored with the account that is made, and proven where the provider says so", async () => {
    world.fake.reset({ phone_number: "+41 (79) 123-45-67", phone_number_verified: true });
    const { sub } = await created();
    assert.deepEqual((await contactOf(sub)).phone, { number: "+41791234567", is_verified: true });
  });

  it("is stored unproven otherwise, and nothing is sent to it", async () => {
    world.fake.reset({ phone_number: "tel:+41-79-123-45-68" });
    const { sub } = await created();
    assert.deepEqual((await contactOf(sub)).phone, { number: "+41791234568", is_verified: false });
    const { result } = bodyOf(
      await world.peer.post("/events/_search", [
        { types: { types: ["user.human.phone.code.sent"] } },
      ]),
    );
    assert.deepEqual(result, []);
  });

  it("that is no number of the world is passed over", async () => {
    world.fake.reset({ phone_number: "079 123 45 67", phone_number_verified: true });
    const { sub } = await created();
    assert.equal((await contactOf(sub)).phone, undefined);
  });

  it("follows at each login where the options say so, but takes no proven number away", async () => {
    world.fake.reset({ phone_number: "+41791230001" });
    const { idpId, sub } = await created({ is_auto_update: true });
    const { user } = world.fake.script;
    const numberAfter = async (said: object) => {
      Object.assign(user, said);
      await world.claimsOf(await world.logIn(idpId));
      return (await contactOf(sub)).phone;
    };
    assert.deepEqual(await numberAfter({ phone_number: "+41791230002" }), {
      number: "+41791230002",
      is_verified: false,
    });
    const proven = { number: "+41791230003", is_verified: true };
    assert.deepEqual(
      await numberAfter({ phone_number: "+41791230003", phone_number_verified: true }),
      proven,
    );
    assert.deepEqual(
      await numberAfter({ phone_number: "+41791230004", phone_number_verified: undefined }),
      proven,
    );
  });
});

describe("a provider that is trusted for addresses", () => {
  const trusted = { is_email_trusted: true, is_phone_trusted: true };

  it("proves them where it does not say whether they are verified", async () => {
    const [email, phone_number] = [mailOf("trusted"), "+41791230005"];
    world.fake.reset({ email, email_verified: undefined, phone_number });
    const { sub } = await created(trusted);
    assert.deepEqual(await contactOf(sub), {
      email: { address: email, is_verified: true },
      phone: { number: phone_number, is_verified: true },
    });
  });

  for (const said of [false, "true", 1]) {
    it(`proves nothing where it says ${JSON.stringify(said)}`, async () => {
      const email = mailOf("said");
      const phone_number = "+41791230006";
      world.fake.reset({ email, email_verified: said, phone_number, phone_number_verified: said });
      const idpId = await world.addForgeB({ options: { is_auto_creation: true, ...trusted } });
      const agent = await world.begin();
      assert.equal(pathOf(await world.through(agent, idpId)), "/ui/login/verify");
      const [{ details }] = bodyOf(
        await world.peer.post("/users/_search", [
          { email: { name: email, method: "TEXT_FILTER_METHOD_EQUALS" } },
        ]),
      ).result;
      const { phone } = await contactOf(details.id);
      assert.deepEqual(phone, { number: phone_number, is_verified: false });
    });
  }

  it("has the user proposed who has verified the address", async () => {
    const email = mailOf("linked");
    const meant = await addPersonNamed(world.peer, {
      contact: { email: { address: email, is_verified: true } },
    });
    world.fake.reset({ email, email_verified: undefined });
    const options = { auto_linking: "AUTO_LINKING_OPTION_EMAIL" };
    const untrusted = await world.addForgeB({ options });
    assert.equal(errorOf(await world.logIn(untrusted)), "PROVIDER_NO_ACCOUNT");
    const idpId = await world.addForgeB({ options: { ...options, is_email_trusted: true } });
    const agent = await world.begin();
    const asked = await world.through(agent, idpId);
    assert.equal(pathOf(asked), "/ui/login/idp/account");
    await agent.submit({ do: "link" });
    codeIn(await signIn(agent, meant.loginName));
  });

  it("of an organization proves them within the organization alone (J9)", async () => {
    const org = await world.peer.addOrganization();
    const email = mailOf("within");
    world.fake.reset({ email, email_verified: undefined });
    const idpId = await world.addForgeB({ options: { is_auto_creation: true, ...trusted }, org });
    const scope = `openid email urn:idsvc:iam:org:id:${org}`;
    const { sub } = await world.claimsOf(await world.logIn(idpId, { scope }));
    const { result } = bodyOf(
      await world.peer.post("/events/_search", [
        { aggregate: { type: "user", id: sub } },
        { types: { types: ["user.human.email.verified"] } },
      ]),
    );
    assert.deepEqual(
      result.map(({ payload }: { payload: object }) => payload),
      [{ reach: "organization" }],
    );
  });
});
