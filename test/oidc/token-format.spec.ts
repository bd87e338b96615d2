// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { newerFormat } from "../../src/crypto/token-format.ts";
import { accessTokenKey } from "../../src/oidc/store/secrets.ts";
import {
  accessTokens,
  authorizationCodes,
  deviceAuthorizations,
  refreshTokens,
} from "../../src/oidc/store/tables.ts";
import { newSessionToken } from "../../src/resources/session/token.ts";
import { personalAccessTokenSecret } from "../../src/resources/user/index.ts";
import { eq } from "../../src/storage/drizzle.ts";
import { insertRow, type RowChange } from "../../src/storage/row-change.ts";
import type { Table } from "../../src/storage/table.ts";
import { basic, paths, redirectUri, startOidc } from "../support/oidc.ts";
import { bodyOf } from "../support/peer.ts";
import { assertRefused } from "../support/refusal.ts";

const lines: string[] = [];
const service = await startOidc({ log: (line) => void lines.push(line) });
const { kernel, made } = service.app;
const { send, get } = service;
const instanceId = made.instance_id;
after(() => service[Symbol.asyncDispose]());

const write = (...changes: RowChange[]) =>
  kernel.db.commit({ instanceId, expect: [], claims: [], events: [], changes });

/** The same token as a newer build would have made it: `idsvc_at_` is `idsvc_at2_`. */
const newer = (value: string) => value.replace(/^(idsvc_[a-z]+)_/, "$12_");

/** Stores what a token stands for under the same token of a newer build. */
async function storeNewer(table: Table, value: string, more = {}): Promise<string> {
  const of = (token: string) =>
    table === accessTokens
      ? accessTokenKey(kernel.secrets, instanceId, token)
      : kernel.secrets.digest(instanceId, token);
  const t = kernel.db.table<typeof refreshTokens.postgres>(table as typeof refreshTokens);
  const rows = await kernel.db.read
    .select()
    .from(t)
    .where(eq(t.digest, await of(value)));
  assert.equal(rows.length, 1);
  const [row] = rows;
  const wanted = newer(value);
  await write(insertRow(table, { ...row, ...more, digest: await of(wanted) }));
  return wanted;
}

const toldLast = (path: string) =>
  lines.map((line) => JSON.parse(line)).findLast((each) => each.path === path);
const why = /it is of format 2, as a newer build makes it; this one knows formats up to 1/;

describe("a token of a newer build, though the store knows it", () => {
  it("is refused at the APIs with a reason of its own, and the log says it", async () => {
    const token = newer("idsvc_pat_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
    const at = { instanceId, userId: made.machine.user_id };
    const secret = { id: kernel.newId(), createdAt: new Date(), value: token };
    await write((await personalAccessTokenSecret(kernel.secrets, at, secret)).change);
    const { refusal } = await get("/targets/1", { token });
    assertRefused(refusal, { code: 16, reason: "TOKEN_NEWER" });
    assert.match(refusal.message, why);
    assert.ok(lines.some((line) => line.includes('"reason":"TOKEN_NEWER"')));
    // What says no format is of the first one.
    const former = { ...secret, id: kernel.newId(), value: token.replace("2_", "_") };
    await write((await personalAccessTokenSecret(kernel.secrets, at, former)).change);
    assertRefused((await get("/targets/1", { token: former.value })).refusal, {
      code: 5,
      reason: "TARGET_NOT_FOUND",
    });
  });

  it("is a session token that opens nothing", async () => {
    const { admin } = made;
    const checks = { user: { user_id: admin.user_id }, password: { password: admin.password } };
    const session = bodyOf(await service.post("/sessions", { checks }), 201);
    const { token } = await newSessionToken(
      kernel.secrets,
      { instanceId, sessionId: session.details.id },
      new Date(),
    );
    const { refusal } = await get("/targets/1", { token: newer(token) });
    assertRefused(refusal, { code: 16, reason: "TOKEN_NEWER" });
  });

  it("is an access token that userinfo refuses and introspection calls inactive", async () => {
    const web = await service.addClient();
    const user = await service.addPerson();
    const { access_token } = await service.tokensFor(web, user);
    const token = await storeNewer(accessTokens, access_token, { part: "" });
    assert.equal((await service.userinfo(access_token)).status, 200);
    assert.equal((await service.userinfo(token)).status, 401);
    assert.match(toldLast(paths.userinfo).reason, why);
    assert.deepEqual(await service.introspect(token, web), { active: false });
    assert.match(toldLast(paths.introspect).reason, why);
  });

  it("is a code, a refresh token and a device code that are worth nothing", async () => {
    const web = await service.addClient();
    const user = await service.addPerson();
    const refused = async (form: Record<string, string>) => {
      const { status, body } = await send(paths.token, form, basic(web));
      assert.deepEqual([status, body.error], [400, "invalid_grant"]);
      assert.doesNotMatch(body.error_description, /format/);
      assert.match(toldLast(paths.token).reason, why);
    };
    const code = await storeNewer(authorizationCodes, await service.codeFor(web, user));
    await refused({ grant_type: "authorization_code", code, redirect_uri: redirectUri });
    const { refresh_token } = await service.tokensFor(web, user, {
      scope: ["openid", "offline_access"],
    });
    const renewed = await storeNewer(refreshTokens, refresh_token, { id: kernel.newId() });
    await refused({ grant_type: "refresh_token", refresh_token: renewed });
    await send(paths.token, { grant_type: "refresh_token", refresh_token }, basic(web)).then(
      ({ status }) => assert.equal(status, 200),
    );
    const grant = "urn:ietf:params:oauth:grant-type:device_code";
    const device = await service.addClient({ grant_types: ["OIDC_GRANT_TYPE_DEVICE_CODE"] });
    const asked = await send(paths.device, { client_id: device.clientId }, basic(device));
    const device_code = await storeNewer(deviceAuthorizations, asked.body.device_code, {
      id: kernel.newId(),
      userCode: "ANOTHERX",
    });
    const { status, body } = await send(
      paths.token,
      { grant_type: grant, device_code },
      basic(device),
    );
    assert.deepEqual([status, body.error], [400, "invalid_grant"]);
    assert.match(toldLast(paths.token).reason, why);
  });

  it("says its format behind its kind, or in the header of a JWT", () => {
    const jwt = (header: object) =>
      `${Buffer.from(JSON.stringify(header)).toString("base64url")}.e30.x`;
    for (const known of [
      "",
      "x",
      "idsvc_at_x",
      "idsvc_at1_x",
      "idsvc_at02_x",
      "other_at2_x",
      "a.b.c",
      "..",
      jwt({}),
      jwt({ idsvc_format: 1 }),
      jwt({ idsvc_format: "2" }),
      jwt([]),
    ])
      assert.equal(newerFormat(known), undefined, known);
    for (const foreign of ["idsvc_at2_x", "idsvc_pat10_", jwt({ idsvc_format: 2 })])
      assert.match(newerFormat(foreign) ?? "", /of format (?:2|10), /, foreign);
  });
});
