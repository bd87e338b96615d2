// Run: shared
import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { after, describe, it } from "node:test";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { basic, paths, startOidc } from "../support/oidc.ts";
import { systemCaller } from "../support/system-caller.ts";
import { errorOf } from "../support/user-agent.ts";
import { consoleAgents, own, permissionsPath } from "./console-agents.ts";

let shift = 0;
const operator = systemCaller();
const peer = await startOidc({
  now: () => new Date(Date.now() + shift),
  env: operator.env,
});
after(() => peer[Symbol.asyncDispose]());
const { issuer } = peer;

const { sent, call, mayCall, enter } = consoleAgents(peer);
const sessionName = "idsvc-console";

describe("the log-in of the console (K4)", () => {
  it("leads back to the page that it was begun for, and the browser gets one cookie and no token", async () => {
    const { agent } = await enter(["IAM_OWNER"], "/ui/console/people?q=ada");
    assert.equal(agent.last.url.search, "?q=ada");
    const cookie = agent.cookies.get(sessionName) ?? "";
    assert.match(cookie, /^[\w-]{43}$/);
    assert.doesNotMatch([...agent.cookies.values()].join(" "), /idsvc_at|eyJ/);
    assert.ok(await mayCall(agent));
  });

  it("asks nobody for consent, and a second time not for the password", async () => {
    const { agent } = await enter();
    const before = agent.cookies.get(sessionName);
    const shown = await agent.open("/ui/console/login");
    assert.equal(shown.url.pathname, "/ui/console");
    assert.notEqual(agent.cookies.get(sessionName), before);
    assert.ok(await mayCall(agent));
  });

  it("asks nobody of another organization for consent either", async () => {
    const made = await peer.post("/organizations", { name: uniqueName("elsewhere") });
    const organizationId = String(bodyOf(made, 201).details.id);
    const { agent } = await enter(["IAM_OWNER"], "/ui/console/people", organizationId);
    assert.ok(await mayCall(agent));
  });

  const elsewhere = [
    "https://evil.test/",
    "//evil.test/",
    "/\\evil.test",
    "/ui/login",
    "/ui/consolefoo",
    "/ui/console/../login",
    "javascript:alert(1)",
    `/ui/console/${"x".repeat(2_001)}`,
  ];
  for (const to of elsewhere) {
    it(`leads to no other place: ${to.slice(0, 40)}`, async () => {
      const { agent } = await enter();
      const shown = await agent.open(`/ui/console/login?to=${encodeURIComponent(to)}`);
      assert.equal(shown.left, undefined);
      assert.equal(shown.url.pathname, "/ui/console");
    });
  }

  it("asks the provider that is named, in its organization, so that its log-in can be tried", async () => {
    const scopeFor = async (idp: string, org = "") => {
      const query = new URLSearchParams({ idp, org });
      const answer = await fetch(`${issuer}/ui/console/login?${query}`, { redirect: "manual" });
      return new URL(answer.headers.get("location") ?? "").searchParams.get("scope")?.split(" ");
    };
    const usual = await scopeFor("");
    const word = "urn:idsvc:iam:org:idp:id:";
    assert.deepEqual(await scopeFor("123"), [...(usual ?? []), `${word}123`]);
    assert.deepEqual(await scopeFor(`1 ${word}2`, `1 ${word}2`), usual);
    const within = "urn:idsvc:iam:org:id:45";
    assert.deepEqual(await scopeFor("123", "45"), [...(usual ?? []), `${word}123`, within]);
  });

  it("is finished in the browser that began it", async () => {
    const { agent } = await enter();
    const begun = await fetch(`${issuer}/ui/console/login`, { redirect: "manual" });
    const [cookie = ""] = begun.headers.getSetCookie();
    assert.match(cookie, /; HttpOnly; SameSite=Lax/);
    // The person's browser is led through by a stranger's link, and has not begun it.
    const { url, status } = await agent.open(begun.headers.get("location") ?? "");
    assert.equal(url.pathname, "/ui/console/callback");
    assert.equal(status, 400);
    assert.equal(errorOf(agent.last), "REQUEST_INVALID");
  });

  it("is over after half an hour", async () => {
    const { agent } = await enter();
    const begun = await fetch(`${issuer}/ui/console/login`, { redirect: "manual" });
    const [name = "", value = ""] = (begun.headers.getSetCookie()[0] ?? "").split(/[=;]/);
    agent.cookies.set(name, value);
    shift += 31 * 60_000;
    const { status } = await agent.open(begun.headers.get("location") ?? "");
    assert.equal(status, 400);
  });

  it("gives its codes to the service alone", async () => {
    const { agent } = await enter();
    const asked = new URLSearchParams({
      client_id: "idsvc:console",
      response_type: "code",
      scope: "openid",
      state: "s".repeat(22),
      redirect_uri: `${issuer}/ui/console/callback`,
      code_challenge: "x".repeat(43),
      code_challenge_method: "plain",
    });
    asked.set("code_challenge_method", "S256");
    const shown = await agent.open(`/oauth/v2/authorize?${asked}`);
    const code = shown.url.searchParams.get("code") ?? "";
    assert.notEqual(code, "");
    const form = {
      grant_type: "authorization_code",
      code,
      redirect_uri: `${issuer}/ui/console/callback`,
    };
    for (const proof of [{}, basic({ clientId: "idsvc:console", secret: "" })]) {
      const { body } = await peer.send(paths.token, { ...form, client_id: "idsvc:console" }, proof);
      assert.equal(body.error, "invalid_client");
    }
    const wrong = new URLSearchParams(asked);
    wrong.set("redirect_uri", "https://evil.test/");
    const refused = await agent.open(`/oauth/v2/authorize?${wrong}`);
    assert.equal(refused.left, undefined);
    assert.equal(refused.status, 400);
  });

  it("cannot be had, changed or removed as an app", async () => {
    const found = await peer.get("/apps/idsvc:console");
    assert.equal(found.refusal?.reason, "APP_NOT_FOUND");
    const removed = await peer.remove("/apps/idsvc:console");
    assert.equal(removed.refusal?.reason, "APP_NOT_FOUND");
  });
});

describe("a call of the console (K4)", () => {
  it("is one of the person: it has their power, and their name in the log", async () => {
    const { agent, id } = await enter(["IAM_OWNER_VIEWER"]);
    const { json } = await call(agent);
    assert.equal(json.user_id, id);
    const scopes = json.result.map(({ scope }: { scope: string }) => scope);
    assert.ok(scopes.includes("PERMISSION_SCOPE_INSTANCE"));
    const create = "/idsvc.resources.org.v3alpha.OrganizationService/CreateOrganization";
    const refused = await call(agent, sent, create, '{"organization":{"name":"none"}}');
    assert.equal(refused.status, 403);
  });

  const nothing: [string, Record<string, string>][] = [
    ["without the header", {}],
    ["with another value of the header", { "x-idsvc-console": "true" }],
    ["from a page of another origin", { ...own, origin: "https://evil.test" }],
    ["from a page of no origin, as a sandboxed frame has", { ...own, origin: "null" }],
    ["from another site", { ...own, "sec-fetch-site": "cross-site" }],
    ["from a neighbour under the same domain", { ...own, "sec-fetch-site": "same-site" }],
    ["by an address that somebody typed", { ...own, "sec-fetch-site": "none" }],
  ];
  for (const [what, headers] of nothing) {
    it(`does nothing ${what}, whoever has the cookie`, async () => {
      const { agent } = await enter();
      const { status, json } = await call(agent, headers);
      assert.equal(status, 401);
      assert.equal(json.code, "unauthenticated");
    });
  }

  it("does nothing from a form", async () => {
    const { agent } = await enter();
    const rest = "/resources/v3alpha/_search_all";
    for (const type of ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data"]) {
      const { status } = await call(agent, { "content-type": type, origin: issuer }, rest);
      assert.ok(status === 401 || status === 415, String(status));
    }
  });

  it("is not allowed to pages of other origins by a preflight", async () => {
    const preflight = await fetch(`${issuer}${permissionsPath}`, {
      method: "OPTIONS",
      headers: {
        origin: "https://evil.test",
        "access-control-request-method": "POST",
        "access-control-request-headers": "x-idsvc-console,content-type",
      },
    });
    assert.doesNotMatch(
      preflight.headers.get("access-control-allow-headers") ?? "",
      /x-idsvc-console/,
    );
    assert.equal(preflight.headers.get("access-control-allow-credentials"), null);
  });

  it("counts by its token where it brings one", async () => {
    const { agent, id } = await enter();
    const { token } = peer.app;
    const asOwner = await call(agent, { ...sent, authorization: `Bearer ${token}` });
    assert.notEqual(asOwner.json.user_id, id);
    const { status } = await call(agent, { ...sent, authorization: "Bearer wrong" });
    assert.equal(status, 401);
  });

  it("does nothing with a cookie that was made up, or of the login", async () => {
    const { agent } = await enter();
    const browser = agent.cookies.get("idsvc-browser") ?? "";
    for (const value of ["", "x", "x".repeat(43), browser]) {
      const cookies = new Map([[sessionName, value]]);
      assert.equal((await call({ cookies })).status, 401);
    }
  });
});

describe("the session of the console (K4)", () => {
  it("does nothing at another instance of the same service", async () => {
    const { agent } = await enter();
    const domain = "sibling.example.test";
    const body = {
      name: domain,
      domain,
      organization: { name: "First" },
      machine: { username: "owner", name: "Owner" },
    };
    const token = await operator.tokenFor(peer.app.made.issuer, new Date(Date.now() + shift));
    bodyOf(await peer.post("/instances", body, { token }), 201);
    const cookie = [...agent.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const asked = request(`${issuer}${permissionsPath}`, {
      method: "POST",
      headers: { "content-type": "application/json", host: domain, cookie, ...own },
    });
    const [answer] = await once(asked.end("{}"), "response");
    assert.equal(answer.statusCode, 401, await text(answer));
    assert.ok(await mayCall(agent));
  });

  it("ends where the person leaves: here, in their tokens, and in the browser", async () => {
    const { agent } = await enter();
    const before = new Map(agent.cookies);
    const { status, json, headers } = await call(agent, sent, "/ui/console/logout");
    assert.equal(status, 200);
    assert.match(headers.getSetCookie().join(), /^idsvc-console=; Path=\/; Max-Age=0; HttpOnly/);
    assert.equal((await call({ cookies: before })).status, 401);
    await agent.open(json.to);
    assert.equal(agent.last.status, 200);
    const shown = await agent.open("/ui/console/login");
    assert.notEqual(shown.url.pathname, "/ui/console");
  });

  it("is not ended by anybody else's page", async () => {
    const { agent } = await enter();
    for (const headers of [{}, { ...own, origin: "https://evil.test" }]) {
      const { status, json } = await call(agent, headers, "/ui/console/logout");
      assert.equal(status, 403);
      assert.match(JSON.stringify(json), /CONSOLE_HEADER_MISSING/);
    }
    assert.ok(await mayCall(agent));
  });

  const ends: [string, (at: Awaited<ReturnType<typeof enter>>) => Promise<unknown>][] = [
    ["is locked", ({ id }) => peer.post(`/users/${id}/_lock`)],
    ["is deactivated", ({ id }) => peer.post(`/users/${id}/_deactivate`)],
    ["is deleted", ({ id }) => peer.remove(`/users/${id}`)],
    [
      "is signed out elsewhere",
      async ({ id }) => {
        const { result } = bodyOf(await peer.post("/sign_ins/_search", [{ user_id: id }]));
        for (const { details } of result) bodyOf(await peer.remove(`/sign_ins/${details.id}`));
      },
    ],
  ];
  for (const [what, end] of ends) {
    it(`ends at once when the person ${what}`, async () => {
      const entered = await enter(["IAM_OWNER_VIEWER"]);
      assert.ok(await mayCall(entered.agent));
      await end(entered);
      assert.ok(!(await mayCall(entered.agent)));
    });
  }

  it("has no power any more that was taken from the person", async () => {
    const { agent, membershipId } = await enter(["IAM_OWNER_VIEWER"]);
    assert.notDeepEqual((await call(agent)).json.result, []);
    bodyOf(await peer.remove(`/memberships/${membershipId}`));
    assert.deepEqual((await call(agent)).json.result, []);
  });

  it("is shown among the sign-ins of the person", async () => {
    const { id } = await enter();
    const { result } = bodyOf(await peer.post("/sign_ins/_search", [{ user_id: id }]));
    assert.deepEqual(
      result.flatMap(({ apps }: { apps: unknown[] }) => apps),
      [{ client_id: "idsvc:console", app_name: "Console", token_families: 1 }],
    );
  });
});
