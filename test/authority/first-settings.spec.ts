// Run: shared
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { Secret, TOTP } from "otpauth";
import { bootstrap } from "../../src/app/bootstrap.ts";
import { loadConfig } from "../../src/app/config.ts";
import { examine } from "../../src/app/examine.ts";
import { openKernel } from "../../src/app/kernel.ts";
import { DomainError } from "../../src/errors.ts";
import { silentLogger } from "../../src/telemetry/logger.ts";
import { storeEnv, type TestOptions } from "../support/app.ts";
import { bodyOf, type ResourcePeer, startPeer } from "../support/peer.ts";
import { assertRefused } from "../support/refusal.ts";
import { systemCaller } from "../support/system-caller.ts";

const outside = "id.example.test";
const operator = systemCaller();

async function startAt(externalUrl: string, env: TestOptions["env"] = {}) {
  const service = await startPeer({ env: { IDSVC_EXTERNAL_URL: externalUrl, ...env } });
  return { service, at: { token: service.app.token, host: new URL(externalUrl).host } };
}

type At = { token: string; host: string };

async function settingsOf({ peer }: ResourcePeer, at: At) {
  const read = async (path: string) =>
    bodyOf(await peer.rest("GET", `/settings/v3alpha/${path}`, undefined, at)).settings;
  const { min_length } = await read("passwords");
  const { force_mfa_administrators, validate_org_domains } = await read("login");
  return { min_length, force_mfa_administrators, validate_org_domains };
}

/** As they are where the instance itself has set them: without an owner. */
const strict = {
  min_length: { value: "12" },
  force_mfa_administrators: { value: true },
  validate_org_domains: { value: true },
};
const local = {
  min_length: { value: "8" },
  force_mfa_administrators: { value: false },
  validate_org_domains: { value: false },
};

describe("what a new instance begins with (J16)", () => {
  for (const url of [`http://${outside}:8080`, `https://${outside}`]) {
    it(`at ${url}: long passwords, second factors of administrators, proof of domains`, async () => {
      const { service, at } = await startAt(url);
      await using _ = service;
      assert.deepEqual(await settingsOf(service, at), strict);
      assert.ok(service.app.made.admin.password.length >= 12);
      assert.deepEqual((await examine(service.app.kernel)).concerns, []);
    });
  }
  for (const url of ["http://localhost:8080", "http://127.0.0.1:8080", "http://app.localhost"]) {
    it(`at ${url}: what suits a machine that nobody else reaches`, async () => {
      const { service, at } = await startAt(url);
      await using _ = service;
      assert.deepEqual(await settingsOf(service, at), local);
      assert.deepEqual((await examine(service.app.kernel)).concerns, []);
    });
  }

  it("CreateInstance: by the domain that is asked for, whatever the first one has", async () => {
    const { service, at } = await startAt("http://localhost:8080", operator.env);
    await using _ = service;
    const token = await operator.tokenFor(service.app.made.issuer);
    for (const [domain, wanted] of [
      ["TENANT.example.test", strict],
      ["tenant.localhost", local],
    ] as const) {
      const body = { name: domain, domain, organization: { name: "First" } };
      const machine = { username: "owner", name: "Owner" };
      const answer = await service.post("/instances", { ...body, machine }, { token });
      const made = bodyOf(answer, 201);
      const there = { token: String(made.personal_access_token), host: String(made.domain) };
      assert.deepEqual(await settingsOf(service, there), wanted, domain);
      // The organization that it begins with is called by a domain that needs no other proof.
      const path = `/users/${made.user_id}`;
      const { user } = bodyOf(await service.get(path, there)).user;
      assert.deepEqual(user.login_names, [`owner@first.${domain.toLowerCase()}`]);
    }
    assert.deepEqual(await settingsOf(service, at), local);
  });

  it("CreateInstance: holds the first person's password to what the instance begins with", async () => {
    const { service } = await startAt("http://localhost:8080", operator.env);
    await using _ = service;
    const token = await operator.tokenFor(service.app.made.issuer);
    const logs = async () => (await service.app.kernel.db.heads()).size;
    const make = (domain: string, password: string) => {
      const names = { given_name: "Ada", family_name: "Owner" };
      const human = { username: "owner", email: "ada@example.test", ...names, password };
      const body = { name: domain, domain, organization: { name: "First" }, human };
      return service.post("/instances", body, { token });
    };
    const before = await logs();
    for (const [domain, password, missing] of [
      ["tenant.example.test", "vq7-zulk-ee", "min_length"],
      ["tenant.localhost", "vq7-zul", "min_length"],
      ["tenant.example.test", "ada-owner-example", "blocklist"],
    ] as const) {
      const { refusal } = await make(domain, password);
      assertRefused(refusal, { code: 3, reason: "PASSWORD_POLICY" });
      assert.equal(refusal.metadata["missing"], missing);
      assert.deepEqual(
        [...new Set(refusal.violations.map(({ field }) => field))],
        ["instance.human.password"],
      );
    }
    assert.equal(await logs(), before);
    bodyOf(await make("tenant.example.test", "vq7-zulk-ee-"), 201);
    bodyOf(await make("tenant.localhost", "vq7-zulk"), 201);
  });

  it("the owner may change each of them; doctor names what demands less", async () => {
    const { service, at } = await startAt(`http://${outside}`);
    await using _ = service;
    const { kernel, made } = service.app;
    const change = async (path: string, settings: JsonObject) =>
      bodyOf(await service.peer.rest("PATCH", `/settings/v3alpha/${path}`, settings, at));
    await change("passwords", { min_length: { set: "11" } });
    await change("login", { force_mfa_administrators: { reset: true } });
    const one = (await examine(kernel)).concerns;
    assert.deepEqual(
      one.map(({ name, count, some }) => [name, count, some]),
      [
        [
          "settings_below_defaults",
          2,
          [`${made.instance_id}/min_length`, `${made.instance_id}/force_mfa_administrators`],
        ],
      ],
    );
    await change("passwords", { min_length: { set: "13" } });
    await change("login", { force_mfa_administrators: { set: true } });
    await change("login", { validate_org_domains: { set: false } });
    const [other] = (await examine(kernel)).concerns;
    assert.deepEqual(other?.some, [`${made.instance_id}/validate_org_domains`]);
  });
});

describe("the first administrator outside loopback", () => {
  it("has a password alone, sets a second factor up in the session that lacks it, and is in", async () => {
    const { service, at } = await startAt(`http://${outside}`);
    await using _ = service;
    const { post, patch } = service;
    const { user_id, password } = service.app.made.admin;
    const checks = { user: { user_id }, password: { password } };
    const opened = bodyOf(await post("/sessions", { checks }, at), 201);
    const own = { host: at.host, token: String(opened.session_token) };
    const { refusal } = await post("/users/_search", [], own);
    assertRefused(refusal, { code: 7, reason: "MFA_REQUIRED" });
    assert.equal(refusal.metadata["lacks"], "second_factor_setup");
    const { totp_id, secret } = bodyOf(await post(`/users/${user_id}/totp`, undefined, own));
    const codes = new TOTP({ secret: Secret.fromBase32(secret) });
    const code = (later: number) => codes.generate({ timestamp: Date.now() + later });
    bodyOf(await post(`/users/${user_id}/totp/${totp_id}/_verify`, code(0), own));
    const more = { checks: { totp: { code: code(30_000) } } };
    const { session_token } = bodyOf(await patch(`/sessions/${opened.details.id}`, more, own));
    bodyOf(await post("/users/_search", [], { host: at.host, token: String(session_token) }));
  });
});

describe("the password of the first administrator outside loopback", () => {
  const start = async (dataDir: string, password: string) =>
    openKernel(
      loadConfig({
        files: [],
        flags: {},
        env: {
          IDSVC_DATA_DIR: dataDir,
          IDSVC_EXTERNAL_URL: `https://${outside}`,
          IDSVC_BOOTSTRAP_ADMIN_PASSWORD: password,
          ...(await storeEnv(dataDir)),
        },
      }),
      { logger: silentLogger() },
    );

  it("is held to what the instance begins with, before anything is written", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "idsvc-start-"));
    {
      await using kernel = await start(dataDir, "vq7-zulk-ee");
      await assert.rejects(bootstrap(kernel), (error: unknown) => {
        assert.ok(error instanceof DomainError, String(error));
        assert.deepEqual([error.code, error.reason], [3, "PASSWORD_POLICY"]);
        assert.equal(error.metadata["missing"], "min_length");
        assert.match(error.message, /^IDSVC_BOOTSTRAP_ADMIN_PASSWORD: /);
        return true;
      });
      assert.equal((await kernel.db.heads()).size, 0);
      assert.ok(!existsSync(join(dataDir, "bootstrap.json")));
    }
    {
      await using kernel = await start(dataDir, "vq7-zulk-ee-");
      assert.equal((await bootstrap(kernel))?.admin.password, "vq7-zulk-ee-");
    }
    rmSync(dataDir, { recursive: true, force: true });
  });
});
