// Run: shared, store
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { identityRef } from "../../../src/resources/idp/intent/table.ts";
import { sweepIdpIntents } from "../../../src/resources/idp/intent/sweep.ts";
import { addPersonNamed, password } from "../../support/login.ts";
import { bodyOf } from "../../support/peer.ts";
import type { RestAnswer } from "../../support/protocols.ts";
import { assertRefused } from "../../support/refusal.ts";
import { errorOf, userAgent } from "../../support/user-agent.ts";
import { type ProviderWorld, startProviderWorld } from "../../login/provider-world.ts";

let world: ProviderWorld;
let idpId: string;
before(async () => {
  world = await startProviderWorld();
  idpId = await world.addForgeB({ options: { is_linking_allowed: true } });
});
after(() => world[Symbol.asyncDispose]());
beforeEach(() => world.fake.reset());

const urls = { success_url: "https://rp.test/ok?own=1", failure_url: "https://rp.test/failed" };
const start = (idp = idpId, content: JsonObject = { urls }, query = "") =>
  world.peer.post(`/idp_intents${query}`, { idp_id: idp, ...content });

/** Logs in at the provider, and gives what the own login page is told. */
async function logInThere(idp = idpId): Promise<URLSearchParams & { at?: string }> {
  const { auth_url } = bodyOf(await start(idp));
  const back = await world.visit(new URL(auth_url));
  const shown = await userAgent(world.peer.issuer).open(back);
  assert.ok(shown.left !== undefined, shown.html);
  return Object.assign(shown.left.searchParams, { at: shown.left.origin + shown.left.pathname });
}

/** A login that succeeded, as what proves it. */
async function proven(idp = idpId) {
  const told = await logInThere(idp);
  return {
    idp_intent_id: told.get("id") ?? "",
    idp_intent_token: told.get("token") ?? "",
  };
}
type Proof = Awaited<ReturnType<typeof proven>>;

const retrieve = ({ idp_intent_id, idp_intent_token }: Proof) =>
  world.peer.get(`/idp_intents/${idp_intent_id}?${new URLSearchParams({ idp_intent_token })}`);
const session = (user_id: string, idp_intent: Proof) =>
  world.peer.post("/sessions", { checks: { user: { user_id }, idp_intent } });
const link = async (userId: string, user_id = world.fake.script.user.sub, idp_id = idpId) =>
  bodyOf(await world.peer.post(`/users/${userId}/idps`, { link: { idp_id, user_id } }));
const person = async () => (await addPersonNamed(world.peer)).id;

function refused({ refusal }: RestAnswer, code: number, reason: string, field?: string): void {
  assertRefused(refusal, { code, reason, ...(field === undefined ? {} : { field }) });
}

describe("a login with a provider on a login page of one's own", () => {
  it("leads there and back, tells who it was once, and makes one session", async () => {
    const id = await person();
    await link(id);
    const told = await logInThere();
    assert.equal(told.at, "https://rp.test/ok");
    assert.equal(told.get("own"), "1");
    assert.equal(told.get("user"), id);
    const proof = {
      idp_intent_id: told.get("id") ?? "",
      idp_intent_token: told.get("token") ?? "",
    };
    const said = bodyOf(await retrieve(proof));
    const { sub, preferred_username } = world.fake.script.user;
    assert.equal(said.user_id, id);
    assert.equal(said.idp_information.user_id, sub);
    assert.equal(said.idp_information.user_name, preferred_username);
    assert.equal(said.idp_information.raw_information.email, world.fake.script.user["email"]);
    assert.ok(said.idp_information.oauth.access_token);
    assert.ok(said.idp_information.oauth.id_token);
    refused(await retrieve(proof), 3, "IDP_INTENT_TOKEN_INVALID", "idp_intent_token");
    const made = bodyOf(await session(id, proof), 201);
    const shown = bodyOf(await world.peer.get(`/sessions/${made.session_id}`)).session;
    assert.equal(shown.factors.intent.idp_id, idpId);
    refused(await session(id, proof), 3, "INVALID_CREDENTIALS", "session.checks");
  });

  it("leads to the other page where it fails, and says why", async () => {
    world.fake.script.error = "access_denied";
    const told = await logInThere();
    assert.equal(told.at, "https://rp.test/failed");
    assert.equal(told.get("error"), "IDP_DENIED");
    assert.match(told.get("error_description") ?? "", /access_denied/);
    assert.equal(told.get("token"), null);
    const proof = { idp_intent_id: told.get("id") ?? "", idp_intent_token: "x" };
    refused(await retrieve(proof), 3, "IDP_INTENT_TOKEN_INVALID", "idp_intent_token");
  });

  it("is refused for a provider that is unknown, off, or another organization's", async () => {
    refused(await start("404"), 5, "IDP_UNKNOWN");
    const org = await world.peer.addOrganization();
    const own = await world.addForgeB({ org });
    refused(await start(own), 5, "IDP_UNKNOWN");
    const inOrg = { urls, ctx: { org_id: org } };
    assert.ok(bodyOf(await start(own, inOrg)).auth_url);
    await world.decide(idpId, "DEACTIVATE", org);
    refused(await start(idpId, inOrg), 9, "IDP_INACTIVE");
    assert.ok(bodyOf(await start()).auth_url);
    refused(await start(idpId, { ldap: { username: "a", password: "b" } }), 9, "IDP_NOT_LDAP");
  });

  it("goes on only at pages of the service, and of origins that an active app has", async () => {
    const { issuer } = world.peer;
    for (const bad of [
      "https://evil.test/ok",
      "https://rp.test.evil.test/ok",
      "https://rp.test@evil.test/ok",
      "https://user@rp.test/ok",
      "http://rp.test/ok",
      "https://rp.test:8443/ok",
    ]) {
      for (const field of ["success_url", "failure_url"]) {
        const answer = await start(idpId, { urls: { ...urls, [field]: bad } });
        refused(answer, 3, "IDP_REDIRECT_DENIED", `urls.${field}`);
      }
    }
    const answer = await start(idpId, {
      urls: { success_url: `${issuer}/x`, failure_url: issuer },
    });
    assert.ok(bodyOf(answer).auth_url);
  });

  it("needs who may write sessions of the instance", async () => {
    const { addMember, addOrganization, post } = world.peer;
    const org = await addOrganization();
    const { token } = await addMember(org, ["ORG_OWNER"]);
    const answer = await post("/idp_intents", { idp_id: idpId, urls }, { token });
    assert.equal(answer.refusal?.code, 7);
  });

  it("keeps nobody's name and no token in its events", async () => {
    const id = await person();
    await link(id);
    const proof = await proven();
    bodyOf(await session(id, proof), 201);
    const types = ["started", "succeeded", "consumed"].map((each) => `idpintent.${each}`);
    const all = (await world.peer.events(...types)).filter(
      ({ aggregateId }) => aggregateId === proof.idp_intent_id,
    );
    assert.deepEqual(
      all.map(({ type, payload }) => ({ type, payload })),
      [
        { type: "idpintent.started", payload: { idpId } },
        { type: "idpintent.succeeded", payload: { idpId, userId: id } },
        { type: "idpintent.consumed", payload: { idpId, userId: id } },
      ],
    );
  });
});

describe("D62: the token of a login", () => {
  it("counts once, also for two sessions at the same time", async () => {
    const id = await person();
    await link(id);
    const proof = await proven();
    const answers = await Promise.all(Array.from({ length: 4 }, () => session(id, proof)));
    assert.equal(answers.filter(({ status }) => status === 201).length, 1);
    assert.equal(answers.filter(({ status }) => status === 400).length, 3);
  });

  it("counts only for the user who has the account, and is not spent by another", async () => {
    const [id, other] = [await person(), await person()];
    await link(id);
    const proof = await proven();
    refused(await session(other, proof), 3, "INVALID_CREDENTIALS", "session.checks");
    const foreign = await proven();
    const mixed = { ...proof, idp_intent_token: foreign.idp_intent_token };
    refused(await session(id, mixed), 3, "INVALID_CREDENTIALS", "session.checks");
    refused(
      await session(id, { ...proof, idp_intent_token: "x" }),
      3,
      "INVALID_CREDENTIALS",
      "session.checks",
    );
    bodyOf(await session(id, proof), 201);
  });

  it("links once, and not what somebody else has", async () => {
    const [id, other] = [await person(), await person()];
    const proof = await proven();
    const add = (userId: string, idp_intent: Proof) =>
      world.peer.post(`/users/${userId}/idps`, { idp_intent });
    bodyOf(await add(id, proof));
    refused(await add(other, proof), 3, "IDP_INTENT_INVALID", "authenticator.idp_intent");
    refused(await add(other, await proven()), 6, "IDP_LINK_TAKEN");
    world.fake.reset();
    refused(await add(id, await proven()), 6, "IDP_LINK_EXISTS");
  });

  it("links nothing for a session that only named its user", async () => {
    const id = await person();
    const named = bodyOf(
      await world.peer.post("/sessions", { checks: { user: { user_id: id } } }),
      201,
    );
    const idp_intent = await proven();
    const add = (token: string) => world.peer.post(`/users/${id}/idps`, { idp_intent }, { token });
    const answer = await add(named.session_token);
    assert.equal(answer.status, 401, JSON.stringify(answer.json));
    const proving = { user: { user_id: id }, password: { password } };
    const own = bodyOf(await world.peer.post("/sessions", { checks: proving }), 201);
    bodyOf(await add(own.session_token));
  });

  it("of a login page of one's own means nothing to the hosted login, nor the other way", async () => {
    const { auth_url } = bodyOf(await start());
    const back = await world.visit(new URL(auth_url));
    // The browser that comes back needs no cookie of ours; a second one finds it spent.
    assert.ok((await userAgent(world.peer.issuer).open(back)).left !== undefined);
    const shown = await userAgent(world.peer.issuer).open(back);
    assert.ok(shown.left === undefined || shown.left.searchParams.get("error") !== null);
    const agent = await world.begin();
    const account = await world.through(agent, idpId);
    assert.equal(account.url.pathname, "/ui/login/idp/account", errorOf(account));
    const [last] = (await world.peer.events("idpintent.succeeded")).slice(-1);
    const proof = { idp_intent_id: last?.aggregateId ?? "", idp_intent_token: "" };
    for (const idp_intent_token of ["x", "idsvc_ii_x"]) {
      refused(
        await retrieve({ ...proof, idp_intent_token }),
        3,
        "IDP_INTENT_TOKEN_INVALID",
        "idp_intent_token",
      );
    }
  });

  it("D63: counts no more once its provider is off for the user", async () => {
    const idp = await world.addForgeB();
    const id = await person();
    await link(id, world.fake.script.user.sub, idp);
    const proof = await proven(idp);
    await world.decide(idp, "DEACTIVATE");
    refused(await session(id, proof), 3, "INVALID_CREDENTIALS", "session.checks");
    await world.decide(idp, "ACTIVATE");
    bodyOf(await session(id, proof), 201);
  });
});

describe("the links of a user", () => {
  const search = async (id: string, filters: JsonObject[] = []) =>
    bodyOf(await world.peer.post(`/users/${id}/idps/_search`, filters)).result ?? [];

  it("are added by who may write users, found, and removed", async () => {
    const id = await person();
    const second = await world.addForgeB();
    await link(id);
    await link(id, "account-2", second);
    assert.equal((await search(id)).length, 2);
    const [found, ...more] = await search(id, [{ idp_id: second }]);
    assert.deepEqual([found.idp_id, found.user_id, more.length], [second, "account-2", 0]);
    bodyOf(await world.peer.remove(`/users/${id}/idps/${second}`));
    refused(await world.peer.remove(`/users/${id}/idps/${second}`), 5, "IDP_LINK_NOT_FOUND");
    assert.equal((await search(id)).length, 1);
    const { user } = bodyOf(await world.peer.get(`/users/${id}`)).user;
    assert.equal(user.authenticators.identity_providers.length, 1);
  });

  it("are of one user each, and free again when they are gone", async () => {
    const [id, other] = [await person(), await person()];
    await link(id);
    const { sub } = world.fake.script.user;
    const add = (userId: string, more: JsonObject = {}) =>
      world.peer.post(`/users/${userId}/idps`, { link: { idp_id: idpId, user_id: sub, ...more } });
    refused(await add(other), 6, "IDP_LINK_TAKEN");
    refused(await add(id, { user_id: "another" }), 6, "IDP_LINK_EXISTS");
    bodyOf(await world.peer.remove(`/users/${id}`));
    bodyOf(await add(other));
  });

  it("are of people, and of providers that their organization has", async () => {
    const machine = await world.peer.addMachine();
    const to = (userId: string, idp_id: string) =>
      world.peer.post(`/users/${userId}/idps`, { link: { idp_id, user_id: "x" } });
    refused(await to(machine.id, idpId), 9, "USER_IS_MACHINE");
    const foreign = await world.addForgeB({ org: await world.peer.addOrganization() });
    refused(await to(await person(), foreign), 5, "IDP_NOT_FOUND");
    refused(await to(await person(), "404"), 5, "IDP_NOT_FOUND");
    refused(await to("404", idpId), 5, "USER_NOT_FOUND");
  });

  it("are shown to their user, who removes them but adds none by name", async () => {
    const id = await person();
    await link(id);
    const checks = { user: { user_id: id }, password: { password } };
    const token = bodyOf(await world.peer.post("/sessions", { checks }), 201).session_token;
    const own = bodyOf(await world.peer.post(`/users/${id}/idps/_search`, [], { token }));
    assert.equal(own.result.length, 1);
    const other = await world.addForgeB();
    const by = { link: { idp_id: other, user_id: "x" } };
    refused(await world.peer.post(`/users/${id}/idps`, by, { token }), 7, "PERMISSION_MISSING");
    bodyOf(await world.peer.remove(`/users/${id}/idps/${idpId}`, { token }));
    // Where the options of the provider do not allow it, no login links either.
    refused(
      await world.peer.post(`/users/${id}/idps`, { idp_intent: await proven(other) }, { token }),
      9,
      "IDP_LINKING_OFF",
    );
  });

  it("outlive that the provider is off, and go with it", async () => {
    const idp = await world.addForgeB();
    const id = await person();
    await link(id, "x", idp);
    await world.decide(idp, "DEACTIVATE");
    assert.equal((await search(id)).length, 1);
    bodyOf(await world.peer.remove(`/idps/${idp}`));
    const deadline = Date.now() + 60_000;
    while ((await search(id)).length > 0 && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.deepEqual(await search(id), []);
    const types = ["removed", "cascade.removed"].map((each) => `user.human.externalidp.${each}`);
    const [last] = (await world.peer.events(...types)).slice(-1);
    assert.equal(last?.type, "user.human.externalidp.cascade.removed");
  });
});

describe("the life of a login", () => {
  it("is an hour from its success, a quarter of one before; then all of it is forgotten", async () => {
    const id = await person();
    await link(id);
    const { auth_url } = bodyOf(await start());
    const late = await world.visit(new URL(auth_url));
    const proof = await proven();
    world.peer.pass(59 * 60_000);
    const shown = await userAgent(world.peer.issuer).open(late);
    assert.equal(errorOf(shown), "PROVIDER_FAILED");
    bodyOf(await retrieve(proof));
    const { deps, at } = world.peer;
    const ref = identityRef(at.instanceId, proof.idp_intent_id);
    assert.ok((await deps.secrets.open(ref)) !== undefined);
    // From here on the service may sweep it by itself.
    world.peer.pass(2 * 60_000);
    refused(await session(id, proof), 3, "INVALID_CREDENTIALS", "session.checks");
    await sweepIdpIntents({ ...deps, now: world.peer.now })(100);
    assert.equal(await deps.secrets.open(ref), undefined);
  });
});
