// Run: shared
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, describe, it } from "node:test";
import { forgeJwt } from "../support/forge.ts";
import { type Answer, basic, type MadeClient, paths, startOidc } from "../support/oidc.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { sessionTokenFor } from "../support/session-token.ts";

const service = await startOidc({ env: { IDSVC_FEATURE_OIDC_TOKEN_EXCHANGE: "true" } });
const { issuer, send, addClient, addPerson, addMachine, post } = service;
after(() => service[Symbol.asyncDispose]());

const apis = "urn:idsvc:iam:org:project:id:idsvc:aud";
const scope = ["openid", "offline_access", apis];
const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const exchange = "urn:ietf:params:oauth:grant-type:token-exchange";
const accessTokenType = "urn:ietf:params:oauth:token-type:access_token";

type Way = "refresh" | "introspect" | "userinfo" | "v3 call" | "PAT" | "token exchange";
type Place = { org: string; user: string; client: MadeClient; session: string; grant: string };

const grant_types = [
  "OIDC_GRANT_TYPE_AUTHORIZATION_CODE",
  "OIDC_GRANT_TYPE_REFRESH_TOKEN",
  "OIDC_GRANT_TYPE_TOKEN_EXCHANGE",
];
const addApp = (project?: string) =>
  addClient({ grant_types }, project === undefined ? {} : { project_id: project });
const patOf = async (user: string) => {
  const own = { token: await sessionTokenFor(service.app, user) };
  return String(bodyOf(await post(`/users/${user}/personal_access_tokens`, {}, own)).token);
};
const isOpen = async (token: string, user: string) =>
  (await service.get(`/users/${user}`, { token })).status === 200;

/** A person of an organization of their own, at an app that only those with a grant may use; and every way in they have. */
async function begin() {
  const org = await service.addOrganization();
  const client = await addApp();
  const other = await addApp(client.projectId);
  const asker = await service.addApi("BASIC", client.projectId);
  const user = await addPerson({}, org);
  const role = { project_id: client.projectId, key: "reader", display_name: "Reader" };
  bodyOf(await post("/project_roles", role), 201);
  bodyOf(await service.patch(`/projects/${client.projectId}`, { authorization_required: true }));
  const wanted = { user_id: user, project_id: client.projectId, role_keys: ["reader"] };
  const grant = String(bodyOf(await post("/user_grants", wanted), 201).details.id);
  const session = await service.logIn(user);
  const { access_token: token, refresh_token: refresh } = await service.tokensFor(client, user, {
    scope,
    sessionId: session,
  });
  const pat = await patOf(user);
  const succeeds = (answer: Answer) => answer.status === 200;
  const ways: Record<Way, () => Promise<boolean>> = {
    introspect: async () =>
      (await send(paths.introspect, { token }, basic(asker))).body.active === true,
    userinfo: async () => succeeds(await service.userinfo(token)),
    "v3 call": () => isOpen(token, user),
    PAT: () => isOpen(pat, user),
    // By an app that nothing happens to.
    "token exchange": async () => {
      const subject = { subject_token: token, subject_token_type: accessTokenType };
      const form = { grant_type: exchange, ...subject, scope: "openid" };
      return succeeds(await send(paths.token, form, basic(other)));
    },
    // The last, as it uses something up.
    refresh: async () => {
      const form = { grant_type: "refresh_token", refresh_token: refresh };
      return succeeds(await send(paths.token, form, basic(client)));
    },
  };
  return { place: { org, user, client, session, grant }, ways };
}

const all: Way[] = ["introspect", "userinfo", "v3 call", "PAT", "token exchange", "refresh"];
const ofLogin: Way[] = ["introspect", "userinfo", "v3 call", "token exchange", "refresh"];
type Done = Promise<{ status: number; refusal?: { message: string } | undefined }>;

const endings: [what: string, end: (place: Place) => Done, ended: Way[]][] = [
  ["the user is locked", ({ user }) => post(`/users/${user}/_lock`), all],
  ["the user is deactivated", ({ user }) => post(`/users/${user}/_deactivate`), all],
  ["the user is deleted", ({ user }) => service.remove(`/users/${user}`), all],
  [
    "their organization is deactivated",
    ({ org }) => post(`/organizations/${org}/_deactivate`),
    all,
  ],
  ["their organization is deleted", ({ org }) => service.remove(`/organizations/${org}`), all],
  ["the app is deactivated", ({ client }) => post(`/apps/${client.appId}/_deactivate`), ofLogin],
  ["the app is deleted", ({ client }) => service.remove(`/apps/${client.appId}`), ofLogin],
  [
    "the project is deactivated",
    ({ client }) => post(`/projects/${client.projectId}/_deactivate`),
    ofLogin,
  ],
  ["the session ends", ({ session }) => service.remove(`/sessions/${session}`), ofLogin],
  [
    "the password changes",
    ({ user }) => post(`/users/${user}/password`, { password: "an entirely different phrase" }),
    ofLogin,
  ],
  ["the grant is deactivated", ({ grant }) => post(`/user_grants/${grant}/_deactivate`), ofLogin],
  ["the grant is deleted", ({ grant }) => service.remove(`/user_grants/${grant}`), ofLogin],
];

describe("what ends with what it stands on", () => {
  it("D36: before, every way is open", async () => {
    const { ways } = await begin();
    for (const way of all) assert.equal(await ways[way](), true, way);
  });

  for (const [what, end, ended] of endings) {
    it(`D36: when ${what}: ${ended.join(", ")}`, async () => {
      const { place, ways } = await begin();
      // Warm caches: what was remembered must be forgotten.
      for (const way of all.slice(0, 4)) assert.equal(await ways[way](), true, way);
      const { status, refusal } = await end(place);
      assert.equal(status, 200, refusal?.message);
      for (const way of all) assert.equal(await ways[way](), !ended.includes(way), way);
    });
  }

  const ofMachines: [string, (id: string, org: string) => Done][] = [
    ["is locked", (id) => post(`/users/${id}/_lock`)],
    ["is deactivated", (id) => post(`/users/${id}/_deactivate`)],
    ["is deleted", (id) => service.remove(`/users/${id}`)],
    ["loses its organization", (_, org) => post(`/organizations/${org}/_deactivate`)],
  ];
  for (const [what, end] of ofMachines) {
    it(`D36: when a machine user ${what}: jwt-bearer, client credentials, its tokens, PAT`, async () => {
      const org = await service.addOrganization();
      const machine = await addMachine(uniqueName("machine"), {}, org);
      const key = await service.addKey(machine.id);
      const byKey = () => {
        const iat = Math.floor(service.now().getTime() / 1000);
        const claims = { iss: machine.id, sub: machine.id, aud: issuer, jti: randomUUID() };
        const header = { alg: "RS256", kid: key.keyId };
        const assertion = forgeJwt(header, { ...claims, iat, exp: iat + 60 }, key.privateKey);
        const form = { grant_type: jwtBearer, assertion, scope: `openid ${apis}` };
        return send(paths.token, form);
      };
      const bySecret = () => {
        const form = { grant_type: "client_credentials", scope: `openid ${apis}` };
        return send(paths.token, form, basic(machine));
      };
      const given = [(await byKey()).body.access_token, (await bySecret()).body.access_token];
      const tokens = [...given, await patOf(machine.id)];
      for (const token of tokens) assert.equal(await isOpen(token, machine.id), true);
      assert.equal((await end(machine.id, org)).status, 200);
      assert.equal((await byKey()).body.error, "invalid_grant");
      assert.equal((await bySecret()).body.error, "invalid_client");
      for (const token of tokens) assert.equal(await isOpen(token, machine.id), false);
      for (const token of given) assert.equal((await service.userinfo(token)).status, 401);
    });
  }
});
