// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { forgeJwt } from "../support/forge.ts";
import { addPersonNamed } from "../support/login.ts";
import { basic, paths } from "../support/oidc.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { oidc, scope, startAppWorld } from "./app-world.ts";

const { peer } = await startAppWorld();
after(() => peer[Symbol.asyncDispose]());

const { instance_id } = peer.app.made;
const tokenType = (name: string) => `urn:ietf:params:oauth:token-type:${name}`;
const exchanging = "urn:ietf:params:oauth:grant-type:token-exchange";

type Client = { clientId: string; secret: string };

async function ask(form: Record<string, string>, client: Client): Promise<string> {
  const { status, body, text } = await peer.send(paths.token, form, basic(client));
  assert.equal(status, 200, text);
  return body.access_token;
}

/** A machine user of nobody's power, whose keys and secrets a weak manager makes. */
async function takenOver() {
  const organizationId = await peer.addOrganization();
  const manager = await peer.addMember(organizationId, ["ORG_USER_MANAGER"]);
  const { userId } = await peer.addMember(organizationId, []);
  const made = (path: string, body?: object) =>
    peer.post(`/users/${userId}/${path}`, body as never, { token: manager.token });
  return { organizationId, manager, userId, made };
}

const promote = async (user_id: string) => {
  const given = { ctx: { instance_id }, user_id, roles: ["IAM_OWNER_VIEWER"] };
  return bodyOf(await peer.post("/memberships", given), 201);
};
const reads = async (userId: string, token: string) =>
  (await peer.get(`/users/${userId}`, { token })).status;

describe("tokens in the name of a user who had been taken over, when they come to power (J20)", () => {
  it("of a secret end with the secret", async () => {
    const { userId, made } = await takenOver();
    const { client_id: clientId, client_secret: secret } = bodyOf(await made("secret"));
    const form = { grant_type: "client_credentials", scope };
    const token = await ask(form, { clientId, secret });
    assert.equal(await reads(userId, token), 200);
    await promote(userId);
    assert.equal(await reads(userId, token), 401);
  });

  it("of a key end with the key", async () => {
    const { userId, made } = await takenOver();
    const { key_file } = bodyOf(await made("public_keys", {}));
    const seconds = Math.floor(peer.now().getTime() / 1_000);
    const claims = { iss: userId, sub: userId, aud: peer.issuer, iat: seconds, exp: seconds + 300 };
    const assertion = forgeJwt({ alg: "RS256", kid: key_file.keyId }, claims, key_file.key);
    const grant_type = "urn:ietf:params:oauth:grant-type:jwt-bearer";
    const { status, body, text } = await peer.send(paths.token, { grant_type, assertion, scope });
    assert.equal(status, 200, text);
    assert.equal(await reads(userId, body.access_token), 200);
    await promote(userId);
    assert.equal(await reads(userId, body.access_token), 401);
  });

  it("that somebody acts by end, where they do not cover the new power", async () => {
    const settings = { enable_impersonation: { set: true } };
    const { token } = peer.app;
    const set = await peer.peer.rest("PATCH", "/settings/v3alpha/security", settings, { token });
    assert.equal(set.status, 200, set.refusal?.message);
    const client = await peer.addClient(oidc());
    /** Whether a token that somebody acts by is good, before and after its subject comes to power. */
    async function actedFor(more: "IAM_OWNER" | undefined): Promise<boolean[]> {
      const { organizationId, userId } = await takenOver();
      const { id: user_id } = await addPersonNamed(peer);
      const give = async (ctx: object, role: string) =>
        bodyOf(await peer.post("/memberships", { ctx, user_id, roles: [role] } as never), 201);
      await give({ org_id: organizationId }, "ORG_END_USER_IMPERSONATOR");
      if (more !== undefined) await give({ instance_id }, more);
      const { access_token } = await peer.tokensFor(client, user_id);
      const form = {
        grant_type: exchanging,
        scope: "openid",
        subject_token: userId,
        subject_token_type: "urn:idsvc:params:oauth:token-type:user_id",
        actor_token: access_token,
        actor_token_type: tokenType("access_token"),
      };
      const issued = await ask(form, client);
      const isActive = async () => (await peer.introspect(issued, client)).active === true;
      const before = await isActive();
      await promote(userId);
      return [before, await isActive()];
    }
    assert.deepEqual(await actedFor(undefined), [true, false]);
    assert.deepEqual(await actedFor("IAM_OWNER"), [true, true]);
  });
});

describe("what is made in the name of a user who had been taken over (J20)", () => {
  it("counts as made by whoever holds a key: a machine's own key and token end too", async () => {
    const { userId, manager, made } = await takenOver();
    const { token } = bodyOf(await made("personal_access_tokens", {}));
    const own = await peer.post(`/users/${userId}/personal_access_tokens`, {}, { token });
    const second = bodyOf(own);
    bodyOf(await peer.remove(`/users/${userId}/personal_access_tokens/${second.token_id}`));
    const third = bodyOf(await peer.post(`/users/${userId}/personal_access_tokens`, {}, { token }));
    assert.equal(await reads(userId, third.token), 200);
    const { holds } = await promote(userId);
    assert.equal(await reads(userId, third.token), 401);
    const hold = holds.find(({ id }: { id: string }) => id === `pat/${third.token_id}`);
    assert.deepEqual([hold.maker_id, hold.kept], [manager.userId, false]);
  });

  it("stays where the giver keeps what the key was that made it", async () => {
    const { userId, made } = await takenOver();
    const first = bodyOf(await made("personal_access_tokens", {}));
    const { token } = first;
    const second = bodyOf(
      await peer.post(`/users/${userId}/personal_access_tokens`, {}, { token }),
    );
    const given = { ctx: { instance_id }, user_id: userId, roles: ["IAM_OWNER_VIEWER"] };
    const keep = encodeURIComponent(`pat/${first.token_id}`);
    bodyOf(await peer.post(`/memberships?keep_holds=${keep}`, given), 201);
    for (const each of [first, second]) assert.equal(await reads(userId, each.token), 200);
  });

  it("stays of a person who has set a password of their own before", async () => {
    const organizationId = await peer.addOrganization();
    const manager = await peer.addMember(organizationId, ["ORG_USER_MANAGER"]);
    const password = "correct horse battery staple";
    const add = async () => {
      const data = { given_name: "Ada" };
      const wanted = { username: uniqueName("u").replaceAll(" ", "-"), data };
      const authenticators = { password: { password } };
      const body = { ...wanted, authenticators };
      const made = await peer.post(`/users?ctx.org_id=${organizationId}`, body, {
        token: manager.token,
      });
      return String(bodyOf(made, 201).details.id);
    };
    const session = async (id: string, phrase: string) => {
      const checks = { user: { user_id: id }, password: { password: phrase } };
      return String(bodyOf(await peer.post("/sessions", { checks }), 201).session_token);
    };
    const codes = (id: string, token: string) =>
      peer.post(`/users/${id}/personal_access_tokens`, {}, { token });
    const [held, free] = [await add(), await add()];
    const heldToken = bodyOf(await codes(held, await session(held, password))).token;
    const changed = `${password} of mine`;
    const change = { password: changed, current_password: password };
    const own = await session(free, password);
    bodyOf(await peer.post(`/users/${free}/password`, change, { token: own }));
    const freeToken = bodyOf(await codes(free, await session(free, changed))).token;
    for (const id of [held, free]) await promote(id);
    assert.equal(await reads(held, heldToken), 401);
    assert.equal(await reads(free, freeToken), 200);
  });
});
