// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { targetsOf } from "../../src/oidc/core/audience.ts";
import { readUserCode } from "../../src/oidc/core/device-authorization.ts";
import { assertRefused, basic, type Body, paths, startOidc } from "../support/oidc.ts";

const service = await startOidc();
const { issuer, send, addClient, addPerson, ports, at, introspect, events } = service;
after(() => service[Symbol.asyncDispose]());

const tv = await addClient({
  grant_types: ["OIDC_GRANT_TYPE_DEVICE_CODE", "OIDC_GRANT_TYPE_REFRESH_TOKEN"],
  response_types: [],
  redirect_uris: [],
});
const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
const begin = async (scope = "openid offline_access"): Promise<Body> => {
  const answer = await send(paths.device, { scope }, basic(tv));
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers.get("cache-control"), "no-store");
  return answer.body;
};
const poll = (device_code: string, by = tv) =>
  send(paths.token, { grant_type, device_code }, basic(by));

/** What the login does when somebody lets the device in. */
async function approve(userCode: string, userId: string): Promise<boolean> {
  const request = await ports.devices.byUserCode(at, readUserCode(userCode) ?? "");
  const client = await ports.clients.byId(at, tv.clientId);
  const user = await ports.users.byId(at, userId);
  if (request === undefined || client === undefined || user === undefined) return false;
  const { clientId, scope } = request;
  return ports.devices.approve(at, request.id, {
    clientId,
    userId,
    organizationId: user.organizationId,
    sessionId: "",
    ...(await targetsOf(ports, at, client, user, { scope, access: { kind: "everything" } })),
    nonce: undefined,
    claims: undefined,
    actor: undefined,
    parents: [],
    authTime: service.now(),
    amr: ["pwd"],
    acr: undefined,
  });
}

describe("device authorization (RFC 8628)", () => {
  it("section 3.2: gives codes, and where a person takes the short one", async () => {
    const { device_code, user_code, ...rest } = await begin();
    assert.match(device_code, /^idsvc_dc_[0-9a-z]{9}[\w-]{43}$/);
    assert.match(user_code, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    assert.deepEqual(rest, {
      verification_uri: `${issuer}/device`,
      verification_uri_complete: `${issuer}/device?user_code=${user_code}`,
      expires_in: 300,
      interval: 5,
    });
    assert.equal(
      readUserCode(` ${user_code.toLowerCase().replace("-", " ")} `),
      user_code.replace("-", ""),
    );
    assert.equal(readUserCode("AAAA-AAAA"), undefined);
  });

  it("section 3.5: waits, slows down who hurries, and gives tokens once", async () => {
    const user = await addPerson();
    const { device_code, user_code } = await begin();
    assertRefused(await poll(device_code), 400, "authorization_pending");
    assertRefused(await poll(device_code), 400, "slow_down");
    service.pass(6_000);
    assertRefused(await poll(device_code), 400, "slow_down");
    service.pass(16_000);
    assertRefused(await poll(device_code), 400, "authorization_pending");
    assert.equal(await approve(user_code, user), true);
    assert.equal(await approve(user_code, user), false);
    const answers = await Promise.all(Array.from({ length: 10 }, () => poll(device_code)));
    const [won, ...more] = answers.filter(({ status }) => status === 200);
    assert.ok(won !== undefined && more.length === 0);
    assertRefused(await poll(device_code), 400, "invalid_grant");
    const seen = await introspect(won.body.access_token, tv);
    assert.equal(seen.sub, user);
    assert.match(won.body.refresh_token, /^idsvc_rt_/);
    assert.equal(typeof won.body.id_token, "string");
  });

  it("section 3.5: tells who is not let in, and who is late", async () => {
    const denied = await begin();
    const waiting = await ports.devices.byUserCode(at, readUserCode(denied.user_code) ?? "");
    assert.equal(await ports.devices.deny(at, waiting?.id ?? ""), true);
    assertRefused(await poll(denied.device_code), 400, "access_denied");
    const late = await begin();
    service.pass(301_000);
    assertRefused(await poll(late.device_code), 400, "expired_token");
    assert.equal(await approve(late.user_code, await addPerson()), false);
    assertRefused(await poll("unknown"), 400, "invalid_grant");
  });

  it("is for the client it was given to, and for clients with the grant", async () => {
    const { device_code } = await begin();
    const other = await addClient({
      grant_types: ["OIDC_GRANT_TYPE_DEVICE_CODE"],
      response_types: [],
    });
    assertRefused(await poll(device_code, other), 400, "invalid_grant");
    const web = await addClient();
    const refused = await send(paths.device, { scope: "openid" }, basic(web));
    assertRefused(refused, 400, "unauthorized_client");
    assertRefused(await send(paths.device, { scope: "bogus" }, basic(tv)), 400, "invalid_scope");
    assertRefused(await send(paths.device, { scope: "openid" }), 401, "invalid_client");
  });

  it("leaves its trail in the log, without the codes", async () => {
    const user = await addPerson();
    const { device_code, user_code } = await begin();
    await approve(user_code, user);
    await poll(device_code);
    const trail = await events(
      "device.authorization.added",
      "device.authorization.approved",
      "device.authorization.done",
    );
    const last = trail.slice(-3);
    assert.deepEqual(
      last.map(({ type }) => type.split(".").at(-1)),
      ["added", "approved", "done"],
    );
    const text = JSON.stringify(last.map(({ payload }) => payload));
    assert.ok(!text.includes(device_code) && !text.includes(user_code.replace("-", "")));
  });
});
