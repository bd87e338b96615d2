// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { decodeJwt } from "jose";
import { allowsImpersonation } from "../../src/settings/security/index.ts";
import { leases } from "../../src/storage/kernel-tables.ts";
import { putRow } from "../../src/storage/row-change.ts";
import { userAgent } from "../support/user-agent.ts";
import { bodyOf } from "../support/peer.ts";
import {
  assertRefused,
  basic,
  type Body,
  type MadeClient,
  paths,
  redirectUri,
  startOidc,
} from "../support/oidc.ts";

const service = await startOidc({ env: { IDSVC_FEATURE_OIDC_TOKEN_EXCHANGE: "true" } });
const { addClient, addPerson, addMachine, addOrganization, tokensFor, introspect, send } = service;
const instanceId = service.at.instanceId;
const home = service.app.made.organization_id;
after(() => service[Symbol.asyncDispose]());

const exchange = "urn:ietf:params:oauth:grant-type:token-exchange";
const tokenType = (name: string) => `urn:ietf:params:oauth:token-type:${name}`;
const userIdType = "urn:idsvc:params:oauth:token-type:user_id";

async function set(group: "oidc" | "security", settings: JsonObject, organizationId = "") {
  const query = organizationId === "" ? "" : `?ctx.org_id=${organizationId}`;
  const { token } = service.app;
  bodyOf(
    await service.peer.rest("PATCH", `/settings/v3alpha/${group}${query}`, settings, { token }),
  );
}
const seconds = (value: number) => ({ set: `${value}s` });
const reset = { reset: true };

/** An app of an organization, with every grant that apps have. */
async function clientOf(organizationId: string, more: JsonObject = {}): Promise<MadeClient> {
  const wanted = { name: `p ${organizationId} ${Math.random()}` };
  const made = await service.post(`/projects?ctx.org_id=${organizationId}`, wanted);
  const grants = ["AUTHORIZATION_CODE", "REFRESH_TOKEN", "TOKEN_EXCHANGE"];
  return addClient(
    { grant_types: grants.map((grant) => `OIDC_GRANT_TYPE_${grant}`), ...more },
    { project_id: bodyOf(made, 201).details.id },
  );
}

const lifeOf = async (token: string, by: MadeClient): Promise<number> => {
  const { exp, iat } = await introspect(token, by);
  return exp - iat;
};
const lifeOfJwt = (token: string): number => {
  const { exp = 0, iat = 0 } = decodeJwt(token);
  return exp - iat;
};
const refresh = (by: MadeClient, { refresh_token }: Body) =>
  send(paths.token, { grant_type: "refresh_token", refresh_token }, basic(by));

describe("lifetimes that an organization has set (S3)", () => {
  it("count for what its apps are issued, by every grant, and for no other apps", async () => {
    const organization = await addOrganization();
    const [own, other] = [await clientOf(organization), await clientOf(home)];
    const user = await addPerson();
    const lifetimes = { access_token_lifetime: seconds(300), id_token_lifetime: seconds(200) };
    await set("oidc", lifetimes, organization);
    const scope = ["openid", "offline_access"];
    const code = await tokensFor(own, user, { scope });
    assert.deepEqual([code.expires_in, await lifeOf(code.access_token, own)], [300, 300]);
    assert.equal(lifeOfJwt(code.id_token), 200);
    const { body: renewed } = await refresh(own, code);
    assert.deepEqual([renewed.expires_in, lifeOfJwt(renewed.id_token)], [300, 200]);
    const form = {
      grant_type: exchange,
      scope: "openid",
      subject_token: renewed.access_token,
      subject_token_type: tokenType("access_token"),
    };
    const { body: exchanged } = await send(paths.token, form, basic(own));
    assert.deepEqual([exchanged.expires_in, lifeOfJwt(exchanged.id_token)], [300, 200]);
    const asJwt = { ...form, requested_token_type: tokenType("jwt") };
    const { body: jwt } = await send(paths.token, asJwt, basic(own));
    assert.equal(lifeOfJwt(jwt.access_token), 300);
    const elsewhere = await tokensFor(other, user, { scope });
    assert.deepEqual([elsewhere.expires_in, lifeOfJwt(elsewhere.id_token)], [43_200, 43_200]);
    await set("oidc", { access_token_lifetime: reset, id_token_lifetime: reset }, organization);
    assert.equal((await tokensFor(own, user)).expires_in, 43_200);
  });

  it("count for its machine users", async () => {
    const organization = await addOrganization();
    const [own, other] = [await addMachine(undefined, {}, organization), await addMachine()];
    await set("oidc", { access_token_lifetime: seconds(60) }, organization);
    const form = { grant_type: "client_credentials", scope: "openid" };
    const lives = [];
    for (const each of [own, other]) {
      lives.push((await send(paths.token, form, basic(each))).body.expires_in);
    }
    assert.deepEqual(lives, [60, 43_200]);
  });

  it("end refreshing, idle or not, and codes", async () => {
    const organization = await addOrganization();
    const own = await clientOf(organization);
    const user = await addPerson();
    const scope = ["openid", "offline_access"];
    await set("oidc", { refresh_token_idle_expiration: seconds(60) }, organization);
    const idle = await tokensFor(own, user, { scope });
    service.pass(61_000);
    assertRefused(await refresh(own, idle), 400, "invalid_grant");
    const change = {
      refresh_token_idle_expiration: reset,
      refresh_token_expiration: seconds(100),
    };
    await set("oidc", change, organization);
    let last = await tokensFor(own, user, { scope });
    service.pass(60_000);
    last = (await refresh(own, last)).body;
    service.pass(41_000);
    assertRefused(await refresh(own, last), 400, "invalid_grant");
    await set("oidc", { authorization_code_lifetime: seconds(5) }, organization);
    const { settings } = service.ports;
    assert.equal((await settings.lifetimes(service.at, organization)).codeMs, 5_000);
    assert.equal((await settings.lifetimes(service.at, home)).codeMs, 60_000);
  });

  it("are bounded by what the instance sets, from then on", async () => {
    const organization = await addOrganization();
    const own = await clientOf(organization);
    const user = await addPerson();
    await set("oidc", { access_token_lifetime: seconds(600) }, organization);
    assert.equal((await tokensFor(own, user)).expires_in, 600);
    await set("oidc", { access_token_lifetime: seconds(120) });
    assert.equal((await tokensFor(own, user)).expires_in, 120);
    await set("oidc", { access_token_lifetime: reset });
    assert.equal((await tokensFor(own, user)).expires_in, 600);
  });
});

describe("impersonation that an organization has forbidden (J16)", () => {
  const impersonate = async (by: MadeClient, subject: string, actor: Body) =>
    send(
      paths.token,
      {
        grant_type: exchange,
        scope: "openid offline_access",
        subject_token: subject,
        subject_token_type: userIdType,
        actor_token: actor.access_token,
        actor_token_type: tokenType("access_token"),
      },
      basic(by),
    );

  it("protects its users, and stops its apps, also what they had begun", async () => {
    await set("security", { enable_impersonation: { set: true } });
    const organization = await addOrganization();
    const [own, other] = [await clientOf(organization), await clientOf(home)];
    const [theirs, ours] = [await addPerson({}, organization), await addPerson()];
    const actor = await addPerson();
    const ctx = { instance_id: instanceId };
    const roles = ["IAM_END_USER_IMPERSONATOR"];
    bodyOf(await service.post("/memberships", { ctx, user_id: actor, roles }), 201);
    const scope = ["openid", "offline_access"];
    const by = async (client: MadeClient) => tokensFor(client, actor, { scope });
    const begun = [];
    for (const [client, subject] of [
      [other, theirs],
      [own, ours],
    ] as const) {
      const answer = await impersonate(client, subject, await by(client));
      assert.equal(answer.status, 200, answer.text);
      begun.push([client, answer.body] as const);
    }
    await set("security", { enable_impersonation: { set: false } }, organization);
    for (const [client, subject] of [
      [other, theirs],
      [own, ours],
    ] as const) {
      const answer = await impersonate(client, subject, await by(client));
      assertRefused(answer, 400, "invalid_request");
    }
    for (const [client, tokens] of begun) {
      assertRefused(await refresh(client, tokens), 400, "invalid_grant");
    }
    // Between others it goes on.
    assert.equal((await impersonate(other, ours, await by(other))).status, 200);
    await set("security", { enable_impersonation: reset }, organization);
    assert.equal((await impersonate(other, theirs, await by(other))).status, 200);
    await set("security", { enable_impersonation: reset });
    assertRefused(await impersonate(other, ours, await by(other)), 400, "invalid_request");
  });

  it("is judged in the unit that issues: one that saw it allowed cannot commit after it was forbidden", async () => {
    const organization = await addOrganization();
    await set("security", { enable_impersonation: { set: true } });
    const { events } = service.deps;
    const by = {
      instanceId,
      editorId: "system:test",
      service: "test",
      clientId: "",
      requestId: "",
    };
    const judged: boolean[] = [];
    await events.transact(by, async (tx) => {
      judged.push(await allowsImpersonation(tx, instanceId, [home, organization]));
      const row = { name: "test", holder: "", token: 1n, expires: new Date(0) };
      tx.write(putRow(leases, row));
      if (judged.length > 1) return;
      await set("security", { enable_impersonation: { set: false } }, organization);
    });
    assert.deepEqual(judged, [true, false]);
    await set("security", { enable_impersonation: reset });
  });
});

describe("frame origins that an organization has set", () => {
  it("count on the pages of a log-in that an app has bound to it", async () => {
    const organization = await addOrganization();
    const client = await addClient();
    const [one, two] = ["https://one.example.com", "https://two.example.com"];
    await set("security", { allowed_frame_origins: { set: { value: [one, two] } } });
    await set("security", { allowed_frame_origins: { set: { value: [two] } } }, organization);
    const ancestorsOf = async (scope: string): Promise<string | undefined> => {
      const agent = userAgent(service.issuer);
      const query = new URLSearchParams({
        client_id: client.clientId,
        redirect_uri: redirectUri,
        response_type: "code",
        scope,
      });
      const page = await agent.open(`/oauth/v2/authorize?${query}`);
      assert.equal(page.status, 200);
      const policy = page.headers.get("content-security-policy") ?? "";
      return /frame-ancestors ([^;]*)/.exec(policy)?.[1];
    };
    assert.equal(await ancestorsOf("openid"), `${one} ${two}`);
    const bound = `openid urn:idsvc:iam:org:id:${organization}`;
    assert.equal(await ancestorsOf(bound), two);
    await set("security", { allowed_frame_origins: { set: { value: [] } } }, organization);
    assert.equal(await ancestorsOf(bound), "'none'");
    await set("security", { allowed_frame_origins: reset });
    assert.equal(await ancestorsOf("openid"), "'none'");
  });
});
