// Run: alone
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { Secret, TOTP } from "otpauth";
import { loadConfig } from "../../src/app/config.ts";
import { spawnCommand } from "../cli/command.ts";
import { engine, storeEnv } from "../support/app.ts";
import { startFakeProvider } from "../support/fake-provider.ts";
import { uniqueName } from "../support/peer.ts";
import { connectPeer, type RestAnswer } from "../support/protocols.ts";
import { found, rawStore } from "../support/raw-store.ts";
import { systemCaller } from "../support/system-caller.ts";
import { freePort } from "../support/free-port.ts";
import { end } from "./server.ts";

const given = {
  masterKeyItself: "MasterKeyMARKER!",
  masterKey: Buffer.alloc(32, "MasterKeyMARKER!").toString("base64"),
  adminPassword: "MARKER1-owner-password",
  token: "MARKER2-bootstrap-token",
  password: "MARKER3-first-password",
  newPassword: "MARKER4-second-password",
  wrongPassword: "MARKER5-wrong-password",
  wrongToken: "MARKER6-wrong-token",
  wrongCode: "MARKER7-wrong-code",
  providerSecret: "MARKER8-secret-of-a-provider",
  newProviderSecret: "MARKER9-its-second-secret",
  mailPassword: "MARKER10-password-of-mails",
  newMailPassword: "MARKER11-its-second-password",
  smsToken: "MARKER12-token-of-a-gateway",
};

/** A running process of the service whose every output is kept. */
async function start(env: Record<string, string>) {
  const child = spawnCommand(["serve", "--log-level", "trace"], env);
  const printed: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (part: Buffer) => void printed.push(part));
  }
  const url = `http://localhost:${env["IDSVC_PORT"]}/readyz`;
  const isReady = () =>
    fetch(url).then(
      ({ status }) => status === 200,
      () => false,
    );
  while (!(await isReady())) {
    assert.equal(child.exitCode, null, Buffer.concat(printed).toString());
    await delay(20);
  }
  return { child, output: () => Buffer.concat(printed) };
}

describe("secrets at rest (C7)", () => {
  it("stand nowhere in clear: not in the store, the logs, later answers, or what the system tells of the process", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "idsvc-marker-"));
    after(() => rmSync(dataDir, { recursive: true, force: true }));
    const file = (name: string, text: string) => {
      const path = join(dataDir, name);
      writeFileSync(path, text, { mode: 0o600 });
      return path;
    };
    const port = await freePort();
    const operator = systemCaller();
    const env = {
      ...(await storeEnv(dataDir)),
      ...operator.env,
      IDSVC_DATA_DIR: join(dataDir, "data"),
      IDSVC_PORT: String(port),
      IDSVC_MASTER_KEY_FILE: file("key", given.masterKey),
      IDSVC_BOOTSTRAP_ADMIN_PASSWORD_FILE: file("password", given.adminPassword),
      IDSVC_BOOTSTRAP_TOKEN_FILE: file("token", given.token),
    };
    const config = loadConfig({ files: [], flags: {}, env });
    // The first start shows its secrets once (H1); from then on they are shown no more.
    const first = await start(env);
    after(() => end(first.child, "SIGKILL"));
    // It is ready before it has told what it made.
    const isShown = () => found(first.output(), [given.adminPassword]).length > 0;
    for (const last = Date.now() + 60_000; !isShown(); await delay(20)) {
      assert.ok(Date.now() < last, "the first start never shows the password");
    }
    await end(first.child, "SIGTERM");
    const service = await start(env);
    after(() => end(service.child, "SIGKILL"));

    using peer = connectPeer(port);
    const secrets = new Set(Object.values(given));
    const answers: string[] = [];
    const call = async (
      method: string,
      path: string,
      body?: JsonValue,
      token = given.token,
    ): Promise<RestAnswer> => peer.rest(method, `/resources/v3alpha${path}`, body, { token });
    /** A call whose answer shows these members this once. */
    const once = async (
      method: string,
      path: string,
      body: JsonValue | undefined,
      ...shown: string[]
    ) => {
      const { status, json } = await call(method, path, body);
      assert.ok(status < 300, `${method} ${path}: ${JSON.stringify(json)}`);
      const told: JsonObject = Object(json);
      for (const name of shown) {
        const value = told[name];
        assert.ok(value !== undefined, `${path} tells no ${name}`);
        for (const each of Array.isArray(value) ? value : [value]) {
          if (typeof each === "string" && each.length >= 8) secrets.add(each);
        }
      }
      return told;
    };
    const kept = async (method: string, path: string, body?: JsonValue, token?: string) => {
      const { json, refusal, status } = await call(method, path, body, token);
      answers.push(JSON.stringify([json, refusal ?? null]));
      return status;
    };

    const { project_id } = JSON.parse(readFileSync(join(config.dataDir, "bootstrap.json"), "utf8"));
    const idOf = (made: JsonObject) => String(Object(made["details"]).id);
    const person = idOf(
      await once("POST", "/users", {
        username: uniqueName("marker"),
        data: { given_name: "Adamantia" },
        contact: { email: { address: "ada@example.com" } },
        authenticators: { password: { password: given.password } },
      }),
    );
    const machine = idOf(
      await once("POST", "/users", {
        username: uniqueName("marker"),
        schema_id: "machine",
        data: { name: "Robot" },
      }),
    );
    const at = `/users/${person}`;
    await once("POST", `${at}/password`, {
      password: given.newPassword,
      current_password: given.password,
    });
    await once("POST", `${at}/password/_reset`, { return_code: {} }, "verification_code");
    await once("POST", `/users/${machine}/personal_access_tokens`, {}, "token");
    await once(
      "PUT",
      `${at}/email`,
      { address: "b@example.com", return_code: {} },
      "verification_code",
    );
    const { secret = "", totp_id } = await once("POST", `${at}/totp`, undefined, "secret", "uri");
    assert.ok(typeof secret === "string" && typeof totp_id === "string");
    const app = new TOTP({ secret: Secret.fromBase32(secret) });
    await once("POST", `${at}/totp/${totp_id}/_verify`, app.generate());
    secrets.add(Buffer.from(app.secret.bytes).toString("hex"));
    await once("POST", `${at}/recovery_codes`, undefined, "recovery_codes");
    await once("POST", `/users/${machine}/secret`, undefined, "client_secret");
    const { key_file } = await once("POST", `/users/${machine}/public_keys`, {}, "key_file");
    const { key } = Object(key_file);
    assert.match(key, /PRIVATE KEY/);
    for (const line of String(key).split("\n").slice(1, 3)) secrets.add(line);
    const oidc = { redirect_uris: ["https://rp.test/callback"] };
    const client = await once(
      "POST",
      "/apps",
      { project_id, name: uniqueName("app"), oidc },
      "client_secret",
    );
    await once("POST", `/apps/${idOf(client)}/_regenerate_secret`, undefined, "client_secret");
    await once(
      "POST",
      "/targets",
      {
        name: uniqueName("target"),
        rest_webhook: { url: "http://localhost:9999/" },
        timeout: "1s",
      },
      "signing_key",
    );
    await once("POST", "/web_keys", { ed25519: {} });
    const provider = await once("POST", "/idps/forge_b", {
      config: { client_id: "idsvc", client_secret: given.providerSecret },
    });
    const ofProvider = `/idps/forge_b/${idOf(provider)}`;
    await once("PATCH", ofProvider, { config: { client_secret: given.newProviderSecret } });
    // What a login with a provider is judged by, and all that the provider says of who logs in.
    await using fake = await startFakeProvider();
    const { issuer, clientId: client_id, secret: client_secret } = fake;
    const forge = await once("POST", "/idps/forge_b", {
      config: { issuer, client_id, client_secret },
    });
    const page = `http://localhost:${port}/done`;
    const begun = await once("POST", "/idp_intents", {
      idp_id: idOf(forge),
      urls: { success_url: page, failure_url: page },
    });
    const next = async (url: string) =>
      new URL((await fetch(url, { redirect: "manual" })).headers.get("location") ?? "");
    const back = await next(String(begun["auth_url"]));
    const arrived = (await next(back.href)).searchParams;
    const proof = new URLSearchParams({ idp_intent_token: arrived.get("token") ?? "" });
    const said = await once("GET", `/idp_intents/${arrived.get("id")}?${proof}`, undefined);
    const { access_token, id_token } = Object(said["idp_information"]).oauth;
    const { state = "", code = "" } = Object.fromEntries(back.searchParams);
    const { email, sub } = fake.script.user;
    const ofLogin = [
      state,
      code,
      proof.get("idp_intent_token"),
      access_token,
      id_token,
      email,
      sub,
    ];
    for (const each of [...ofLogin, client_secret]) {
      assert.ok(typeof each === "string" && each.length >= 8);
      secrets.add(each);
    }
    const mail = await once("POST", "/smtp_providers", {
      sender_address: "a@example.com",
      host: "mail.example.com:587",
      user: "idsvc",
      password: given.mailPassword,
    });
    const ofMail = `/smtp_providers/${idOf(mail)}`;
    await once("PATCH", ofMail, { password: given.newMailPassword });
    const http = { url: "http://localhost:9999/" };
    await once("POST", "/smtp_providers", { http }, "signing_key");
    const gateway = { sid: "AC1", token: given.smsToken, sender_number: "+15005550006" };
    const sms = await once("POST", "/sms_providers", gateway);
    const ofSms = `/sms_providers/${idOf(sms)}`;
    assert.ok(secrets.size > 25, `only ${secrets.size} secrets were made`);

    // What is wrong is secret as well: it is often right elsewhere.
    const wrong = { password: "x y z 1 2 3 4", current_password: given.wrongPassword };
    await kept("POST", `${at}/password`, wrong);
    await kept("POST", `${at}/email/_verify`, given.wrongCode);
    await kept("GET", at, undefined, given.wrongToken);
    await kept("POST", "/users", {
      username: "",
      authenticators: { password: { password: given.wrongPassword } },
    });
    await kept("POST", "/users", { unknown_field: given.wrongPassword });
    for (const path of [
      at,
      `/users/${machine}`,
      `/apps/${idOf(client)}`,
      "/web_keys",
      ofProvider,
    ]) {
      assert.equal(await kept("GET", path), 200);
    }
    for (const path of [ofProvider, ofMail, ofSms]) assert.equal(await kept("GET", path), 200);
    for (const path of [
      "/users",
      "/apps",
      "/targets",
      "/idps",
      "/smtp_providers",
      "/sms_providers",
    ]) {
      assert.equal(await kept("POST", `${path}/_search`), 200);
    }

    const proc = ["environ", "cmdline"].map((name) =>
      readFileSync(`/proc/${service.child.pid}/${name}`),
    );
    const places: [string, Buffer][] = [
      ["the store while it is open", await rawStore(config)],
      ["/proc", Buffer.concat(proc)],
      ["later answers", Buffer.from(answers.join("\n"))],
    ];
    await end(service.child, "SIGTERM");
    places.push(["the store", await rawStore(config)], ["the log", service.output()]);
    for (const [name, bytes] of places) assert.deepEqual(found(bytes, secrets), [], name);
    // The scan would find them: what is no secret is there.
    const isThere = Buffer.concat(places.map(([, bytes]) => bytes));
    assert.deepEqual(found(isThere, ["Adamantia"]), ["Adamantia"]);
    assert.ok(service.output().length > 1_000, `the log of ${engine} is empty`);
  });
});
