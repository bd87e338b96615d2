// Run: shared, store
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { addPersonNamed, signIn } from "../support/login.ts";
import { codeIn, pathOf } from "../support/login-pages.ts";
import { basic, paths } from "../support/oidc.ts";
import { bodyOf } from "../support/peer.ts";
import { providersOfPage } from "../../src/login/pages/providers.ts";
import { errorOf, formOf, type Shown, type UserAgent } from "../support/user-agent.ts";
import { leaving, type ProviderWorld, startProviderWorld } from "./provider-world.ts";

let world: ProviderWorld;
/** A provider that makes an account of everybody. */
let open: string;
before(async () => {
  world = await startProviderWorld();
  open = await world.addForgeB({ options: { is_auto_creation: true } });
});
after(() => world[Symbol.asyncDispose]());
beforeEach(() => {
  world.fake.reset();
  world.other.reset();
});

const now = () => Math.floor(Date.now() / 1_000);

/** Nobody is let in by it: no code, no session, no user; the page tells which refusal it was. */
async function refused(act: () => Promise<Shown>, code: string, detail: RegExp): Promise<void> {
  const counts = [await world.userCount(), await world.sessionCount()];
  const shown = await act();
  assert.equal(shown.left, undefined);
  assert.equal(errorOf(shown), code, shown.html.slice(0, 500));
  assert.match(/id="error-detail">([^<]*)/.exec(shown.html)?.[1] ?? "", detail);
  assert.ok(shown.status >= 400 && shown.status < 600, String(shown.status));
  assert.deepEqual([await world.userCount(), await world.sessionCount()], counts);
}

describe("D61: the ID token of a provider is refused", () => {
  const cases: Record<string, Record<string, unknown>> = {
    "without nonce": { nonce: undefined },
    "with another nonce": { nonce: "another" },
    "without iss": { iss: undefined },
    "of another issuer": { iss: "https://evil.test" },
    "without aud": { aud: undefined },
    "for another client": { aud: "another" },
    "for two clients, without azp": { aud: ["the service:1", "another"] },
    "with another azp": { azp: "another" },
    "without exp": { exp: undefined },
    "that has expired": { exp: now() - 120, iat: now() - 240 },
    "with exp as a text": { exp: "never" },
    "without iat": { iat: undefined },
    "of the future": { iat: now() + 600, exp: now() + 900 },
    "of two hours ago": { iat: now() - 7_200 },
    "without sub": { sub: undefined },
    "with another sub than userinfo": { sub: "another" },
  };
  for (const [what, idToken] of Object.entries(cases)) {
    it(what, async () => {
      world.fake.script.idToken = idToken;
      await refused(() => world.logIn(open), "PROVIDER_FAILED", /^IDP_ANSWER_INVALID: /);
    });
  }
  for (const signature of ["none", "foreign"] as const) {
    it(`with ${signature === "none" ? "no signature" : "that of another key"}`, async () => {
      world.fake.script.signature = signature;
      await refused(() => world.logIn(open), "PROVIDER_FAILED", /^IDP_ANSWER_INVALID: /);
    });
  }
});

describe("D61: the callback is refused", () => {
  const begun = async () => {
    const agent = await world.begin();
    return { agent, back: await world.visit(await world.choose(agent, open)) };
  };

  it("without state, and with one that was never given", async () => {
    const { agent, back } = await begun();
    const unknown = /^IDP_STATE_UNKNOWN/;
    const foreign = Buffer.alloc(32, 7).toString("base64url");
    for (const state of [undefined, "", "x", foreign, "x".repeat(5_000)]) {
      const url = new URL(back);
      if (state === undefined) url.searchParams.delete("state");
      else url.searchParams.set("state", state);
      await refused(() => agent.open(url), "PROVIDER_FAILED", unknown);
    }
    // Nothing was spent by these.
    codeIn(await agent.open(back));
  });

  it("with a state that was used, also at the same time", async () => {
    const { agent, back } = await begun();
    const cookie = [...agent.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const tries = await Promise.all(
      Array.from({ length: 5 }, () => fetch(back, { redirect: "manual", headers: { cookie } })),
    );
    assert.equal(tries.filter(({ status }) => status === 303).length, 1);
    assert.equal(tries.filter(({ status }) => status === 400).length, 4);
    const again = await world.begin();
    const second = await world.visit(await world.choose(again, open));
    codeIn(await again.open(second));
    await refused(() => again.open(second), "PROVIDER_FAILED", /^IDP_(INTENT_SPENT|STATE_UNKNOWN)/);
  });

  it("with a parameter that came twice", async () => {
    const { agent, back } = await begun();
    const url = `${back.href}&code=another`;
    await refused(() => agent.open(url), "REQUEST_INVALID", /code came twice/);
  });

  it("with the answer of another provider, in either direction", async () => {
    const { other } = world;
    const second = await world.addForgeB({ of: other, options: { is_auto_creation: true } });
    for (const [here, there] of [
      [open, second],
      [second, open],
    ] as const) {
      const mine = await world.begin();
      const [to, from] = [
        await world.visit(await world.choose(mine, here)),
        await world.visit(await world.choose(await world.begin(), there)),
      ];
      to.searchParams.set("code", from.searchParams.get("code") ?? "");
      await refused(() => mine.open(to), "PROVIDER_FAILED", /^IDP_ANSWER_INVALID: .*invalid_grant/);
    }
    world.fake.script.answer = { iss: other.issuer };
    await refused(() => world.logIn(open), "PROVIDER_FAILED", /^IDP_ANSWER_INVALID/);
  });
});

describe("D62: a login with a provider is of one browser and one flow", () => {
  it("so its answer is refused in another browser, and is spent by none", async () => {
    const agent = await world.begin();
    const back = await world.visit(await world.choose(agent, open));
    const [stranger, nobody] = [await world.begin(), await world.begin()];
    nobody.cookies.clear();
    for (const each of [stranger, nobody]) {
      const shown = await each.open(back);
      assert.equal(errorOf(shown), "FLOW_NOT_FOUND");
      assert.equal(shown.status, 400);
    }
    codeIn(await agent.open(back));
  });

  it("so an account that waits for its user is not to be had in another browser, or before", async () => {
    const linking = await world.addForgeB({
      options: { is_linking_allowed: true, is_creation_allowed: true },
    });
    const agent = await world.begin();
    for (const page of ["account", "register"]) {
      const flow = agent.last.url.searchParams.get("flow") ?? "";
      const shown = await agent.open(`/ui/login/idp/${page}?flow=${flow}`);
      assert.equal(errorOf(shown), "FLOW_NOT_FOUND", page);
      await agent.open(`/ui/login/loginname?flow=${flow}`);
    }
    const account = await world.through(agent, linking);
    const stranger = await world.begin();
    for (const page of ["account", "register"]) {
      const shown = await stranger.open(`/ui/login/idp/${page}${account.url.search}`);
      assert.equal(errorOf(shown), "FLOW_NOT_FOUND");
    }
  });

  it("so its forms count only from pages of ours", async () => {
    const linking = await world.addForgeB({ options: { is_linking_allowed: true } });
    const agent = await world.begin();
    const { fields } = formOf((await world.through(agent, linking)).html);
    const action = "/ui/login/idp/account";
    const own = { origin: world.peer.issuer, "sec-fetch-site": "same-origin" };
    const { csrf: _, ...withoutToken } = fields;
    for (const [sent, headers] of [
      [fields, { origin: "https://evil.test", "sec-fetch-site": "cross-site" }],
      [fields, { origin: "null", "sec-fetch-site": "cross-site" }],
      [withoutToken, own],
    ] as const) {
      const body = new URLSearchParams({ ...sent, do: "link" });
      const shown = await agent.open(action, { method: "POST", body, headers });
      assert.equal(errorOf(shown), "FORM_REFUSED");
      assert.equal(shown.status, 403);
    }
    const body = new URLSearchParams({ ...fields, do: "link" });
    const shown = await agent.open(action, { method: "POST", body, headers: own });
    assert.equal(pathOf(shown), "/ui/login/loginname");
  });
});

const flowOf = ({ url }: Shown): string => url.searchParams.get("flow") ?? "";

/** Whether a log-in shows a provider, on its first page or on those of all providers. */
async function offers(agent: UserAgent, idpId: string): Promise<boolean> {
  const shows = () => agent.last.html.includes(`value="${idpId}"`);
  const flow = flowOf(agent.last);
  if (shows()) return true;
  for (let from = 0; ; from += providersOfPage) {
    const query = new URLSearchParams({ flow, from: String(from) });
    const { html } = await agent.open(`/ui/login/idps?${query}`);
    if (shows()) return true;
    if (!html.includes(`from=${from + providersOfPage}`)) return false;
  }
}

describe("D63: a provider that is switched off", () => {
  const features = (multitenancy_resources_api: JsonObject) =>
    world.peer.peer.rest(
      "PATCH",
      "/settings/v3alpha/features",
      { multitenancy_resources_api },
      { token: world.peer.app.token },
    );

  /** A person of an organization who has an account of a new provider linked, and how their organization is named. */
  async function linkedIn(org?: string) {
    const idpId = await world.addForgeB();
    const user_id = world.fake.script.user.sub;
    const link = { idp_id: idpId, user_id, username: "mona" };
    const id = await world.peer.addPerson({}, org);
    bodyOf(await world.peer.post(`/users/${id}/idps`, { link }));
    const scope = `openid offline_access${org === undefined ? "" : ` urn:idsvc:iam:org:id:${org}`}`;
    return { idpId, id, scope };
  }
  const refresh = async (refresh_token: string) =>
    world.peer.send(paths.token, { grant_type: "refresh_token", refresh_token }, basic(world.app));

  const ways: Record<
    string,
    {
      off(idp: string, org: string): Promise<unknown>;
      on(idp: string, org: string): Promise<unknown>;
    }
  > = {
    "on the instance": {
      off: (idp) => world.decide(idp, "DEACTIVATE"),
      on: (idp) => world.decide(idp, "ACTIVATE"),
    },
    "in the organization": {
      off: (idp, org) => world.decide(idp, "DEACTIVATE", org),
      on: (idp, org) => world.decide(idp, "INHERIT", org),
    },
    "with the feature": {
      off: async () => bodyOf(await features({ set: false })),
      on: async () => bodyOf(await features({ reset: true })),
    },
  };
  for (const [where, { off, on }] of Object.entries(ways)) {
    it(`${where} lets nobody in, and all is as before when it is on again`, async () => {
      const org = await world.peer.addOrganization();
      const { idpId, id, scope } = await linkedIn(org);
      const first = await world.begin({ scope });
      const tokens = await world.tokensOf(await world.through(first, idpId));
      const [bookmark, flying] = [await world.begin({ scope }), await world.begin({ scope })];
      const back = await world.visit(await world.choose(flying, idpId));
      await off(idpId, org);
      try {
        assert.equal(await offers(await world.begin({ scope }), idpId), false);
        const flow = flowOf(bookmark.last);
        const start = `/ui/login/idp?${new URLSearchParams({ flow, idp: idpId })}`;
        await refused(() => bookmark.open(start), "PROVIDER_OFF", /^IDP_INACTIVE/);
        await refused(() => flying.open(back), "PROVIDER_OFF", /^IDP_INACTIVE/);
        // Neither does the session that it once made, nor its tokens.
        const { issuer } = world.peer;
        await first.open(again(issuer, world.app.clientId, scope));
        assert.equal(pathOf(first.last), "/ui/login/loginname");
        const answer = await refresh(tokens.refresh_token);
        assert.deepEqual([answer.status, answer.body.error], [400, "invalid_grant"]);
      } finally {
        await on(idpId, org);
      }
      const { refresh_token } = (await refresh(tokens.refresh_token)).body;
      assert.ok(refresh_token, "refused tokens are not spent");
      const back2 = await world.logIn(idpId, { scope });
      assert.equal((await world.claimsOf(back2)).sub, id);
    });
  }

  it("for the organization of the user, where the app asks for none", async () => {
    const org = await world.peer.addOrganization();
    const { idpId } = await linkedIn(org);
    await world.decide(idpId, "DEACTIVATE", org);
    await refused(() => world.logIn(idpId), "PROVIDER_OFF", /^IDP_INACTIVE/);
    await world.decide(idpId, "ACTIVATE", org);
    codeIn(await world.logIn(idpId));
  });

  it("while its account is to be linked, or a new one is to be made", async () => {
    const options = { is_linking_allowed: true, is_creation_allowed: true };
    const idpId = await world.addForgeB({ options });
    const person = await addPersonNamed(world.peer);
    const [linking, making, last] = [await world.begin(), await world.begin(), await world.begin()];
    await world.through(linking, idpId);
    await linking.submit({ do: "link" });
    await world.through(making, idpId);
    await making.submit({ do: "create" });
    await world.through(last, idpId);
    await world.decide(idpId, "DEACTIVATE");
    const values = { given_name: "A", family_name: "B", email: "a@b.test" };
    for (const act of [() => making.submit(values), () => last.submit({ do: "link" })]) {
      await refused(act, "PROVIDER_OFF", /^IDP_INACTIVE/);
    }
    assert.equal(errorOf(await signIn(linking, person.loginName)), "PROVIDER_OFF");
    const found = bodyOf(await world.peer.post(`/users/${person.id}/idps/_search`));
    assert.deepEqual(found.result ?? [], []);
  });

  it("is gone for good when it is deleted, with the links to it", async () => {
    const { idpId, id, scope } = await linkedIn();
    const agent = await world.begin({ scope });
    const { refresh_token } = await world.tokensOf(await world.through(agent, idpId));
    const flying = await world.begin({ scope });
    const back = await world.visit(await world.choose(flying, idpId));
    bodyOf(await world.peer.remove(`/idps/${idpId}`));
    await refused(() => flying.open(back), "PROVIDER_OFF", /^IDP_UNKNOWN/);
    const bookmark = await world.begin();
    const start = `/ui/login/idp?${new URLSearchParams({ flow: flowOf(bookmark.last), idp: idpId })}`;
    await refused(() => bookmark.open(start), "PROVIDER_OFF", /^IDP_UNKNOWN/);
    assert.equal((await refresh(refresh_token)).body.error, "invalid_grant");
    const linksLeft = async () =>
      bodyOf(await world.peer.post(`/users/${id}/idps/_search`)).result?.length ?? 0;
    const deadline = Date.now() + 60_000;
    while ((await linksLeft()) > 0 && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.equal(await linksLeft(), 0);
  });

  it("the table of policies holds in search and login alike", async () => {
    const org = await world.peer.addOrganization();
    const idpId = await world.addForgeB();
    const scope = `openid urn:idsvc:iam:org:id:${org}`;
    for (const above of ["ACTIVATE", "DEACTIVATE", "INHERIT"]) {
      await world.decide(idpId, above);
      for (const below of ["ACTIVATE", "DEACTIVATE", "INHERIT"]) {
        await world.decide(idpId, below, org);
        const isOn = below === "ACTIVATE" || (below === "INHERIT" && above !== "DEACTIVATE");
        const filters = [{ id: { id: idpId } }];
        const found = bodyOf(await world.peer.post(`/idps/_search?ctx.org_id=${org}`, filters));
        assert.equal(
          found.result?.[0]?.state,
          isOn ? "EFFECTIVE_STATE_ACTIVE" : "EFFECTIVE_STATE_INACTIVE",
          `${above} ${below}`,
        );
        const agent = await world.begin({ scope });
        const flow = flowOf(agent.last);
        assert.equal(await offers(agent, idpId), isOn, `${above} ${below}`);
        const query = new URLSearchParams({ flow, idp: idpId });
        const shown = await agent.open(`/ui/login/idp?${query}`);
        if (isOn) assert.equal(leaving(shown).origin, world.fake.issuer);
        else assert.equal(errorOf(shown), "PROVIDER_OFF");
      }
    }
  });

  it("is as off where allow_external_idp is off", async () => {
    const { idpId, scope } = await linkedIn();
    const agent = await world.begin({ scope });
    const back = await world.visit(await world.choose(agent, idpId));
    await world.pages.change("login", { allow_external_idp: { set: false } });
    try {
      assert.equal(await offers(await world.begin(), idpId), false);
      await refused(() => agent.open(back), "PROVIDER_OFF", /^IDP_INACTIVE/);
    } finally {
      await world.pages.change("login", { allow_external_idp: { reset: true } });
    }
  });
});

const again = (issuer: string, client_id: string, scope: string) =>
  `${issuer}/oauth/v2/authorize?${new URLSearchParams({
    client_id,
    scope,
    redirect_uri: "https://rp.test/cb",
    response_type: "code",
  })}`;
