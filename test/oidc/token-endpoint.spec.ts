// Run: shared
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, describe, it } from "node:test";
import { engine } from "../support/app.ts";
import { beside } from "../support/beside.ts";
import { assertRefused, basic, paths, read, redirectUri, startOidc } from "../support/oidc.ts";

const service = await startOidc();
const { issuer, send, addClient, addMachine, addPerson, codeFor, tokensFor } = service;
after(() => service[Symbol.asyncDispose]());

const web = await addClient();
const machine = await addMachine();
const asked = { grant_type: "client_credentials", scope: "openid" };
const post = async (body: string, type: string) =>
  read(
    await fetch(`${issuer}${paths.token}`, {
      method: "POST",
      body,
      headers: { "content-type": type, ...basic(machine) },
    }),
  );

describe("the token endpoint (RFC 6749 sections 3.2 and 5.2)", () => {
  it("D20: a grant that the app lacks, that nobody has, or none", async () => {
    const device = { grant_type: "urn:ietf:params:oauth:grant-type:device_code", device_code: "x" };
    assertRefused(await send(paths.token, device, basic(web)), 400, "unauthorized_client");
    const unknown = { grant_type: "password" };
    assertRefused(await send(paths.token, unknown, basic(web)), 400, "unsupported_grant_type");
    const exchange = { grant_type: "urn:ietf:params:oauth:grant-type:token-exchange" };
    assertRefused(await send(paths.token, exchange, basic(web)), 400, "unsupported_grant_type");
    assertRefused(await send(paths.token, {}, basic(web)), 400, "invalid_request");
    const api = await service.addApi("BASIC");
    const code = { grant_type: "authorization_code", code: "x", redirect_uri: redirectUri };
    assertRefused(await send(paths.token, code, basic(api)), 400, "unauthorized_client");
  });

  it("D20: only POST, only forms, at most 64 KiB", async () => {
    const got = await fetch(`${issuer}${paths.token}?grant_type=client_credentials`);
    assert.equal(got.status, 405);
    assert.equal(got.headers.get("allow"), "POST");
    const form = new URLSearchParams(asked).toString();
    const type = "application/x-www-form-urlencoded";
    assert.equal((await post(form, `${type}; charset=utf-8`)).status, 200);
    assertRefused(await post(JSON.stringify(asked), "application/json"), 415, "invalid_request");
    assertRefused(await post("--x--", "multipart/form-data; boundary=x"), 415, "invalid_request");
    assertRefused(await post(`${form}&x=${"y".repeat(2 ** 16)}`, type), 413, "invalid_request");
    assertRefused(await post(`${form}${"&x=y".repeat(1_000)}`, type), 400, "invalid_request");
  });

  it("takes each parameter once (RFC 6749 section 3.2)", async () => {
    for (const name of ["grant_type", "scope", "whatever", 'odd "name"']) {
      const form: [string, string][] = [...Object.entries(asked), [name, "x"], [name, "x"]];
      assertRefused(await send(paths.token, form, basic(machine)), 400, "invalid_request");
    }
  });

  it("reads nothing of the query", async () => {
    const { grant_type, ...rest } = asked;
    const answer = await send(`${paths.token}?grant_type=${grant_type}`, rest, basic(machine));
    assertRefused(answer, 400, "invalid_request");
  });

  it("refuses texts that no store can hold, in words", async () => {
    for (const text of ["\0", "a\0b"]) {
      const code = { grant_type: "authorization_code", code: text, redirect_uri: redirectUri };
      assertRefused(await send(paths.token, code, basic(web)), 400, "invalid_grant");
      const answer = await send(paths.token, code, basic({ clientId: text, secret: "x" }));
      assert.ok(answer.status === 401 || answer.status === 400, answer.text);
    }
  });

  it("D79: is open to pages of apps, and to no others", async () => {
    const call = async (origin: string) =>
      (await send(paths.token, asked, { ...basic(machine), origin })).headers.get(
        "access-control-allow-origin",
      );
    assert.equal(await call("https://rp.test"), "https://rp.test");
    for (const origin of ["https://evil.test", "null", "https://rp.test.evil.test"]) {
      assert.equal(await call(origin), null);
    }
  });

  it("D21: nothing that was issued stands in the store in clear", async () => {
    const scope = ["openid", "offline_access"];
    const user = await addPerson();
    const code = await codeFor(web, user, { scope });
    const jwt = await addClient({ access_token_type: "OIDC_TOKEN_TYPE_JWT" });
    const issued = await tokensFor(web, user, { scope });
    const [opaque] = [(await send(paths.token, asked, basic(machine))).body];
    const secrets = [
      code,
      issued.access_token,
      issued.refresh_token,
      issued.id_token,
      opaque.access_token,
      (await tokensFor(jwt, user)).access_token,
    ];
    for (const table of ["events", "access_tokens", "refresh_tokens", "authorization_codes"]) {
      const { rows } = await beside(service.app.kernel, `SELECT * FROM ${table}`);
      const text = JSON.stringify(rows);
      for (const secret of secrets) assert.ok(!text.includes(secret), table);
    }
    const at = service.app.kernel.config.databaseUrl;
    if (engine !== "sqlite" || at.kind !== "sqlite") return;
    for (const file of [at.file, `${at.file}-wal`]) {
      const bytes = readFileSync(file);
      for (const secret of secrets) assert.equal(bytes.indexOf(secret), -1, file);
    }
  });
});
