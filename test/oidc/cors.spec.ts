// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { startOidc } from "../support/oidc.ts";

const service = await startOidc();
const { issuer } = service;
after(() => service[Symbol.asyncDispose]());

// Makes https://rp.test the origin of an active app.
const client = await service.addClient();

type Found = { path: string; methods: string[] };
const discovered = await (await fetch(`${issuer}/.well-known/openid-configuration`)).json();
const at = (name: string, ...methods: string[]): Found => ({
  path: new URL(Object(discovered)[name]).pathname,
  methods,
});
const open = [
  { path: "/.well-known/openid-configuration", methods: ["GET"] },
  at("jwks_uri", "GET"),
];
const forApps = [
  at("token_endpoint", "POST"),
  at("revocation_endpoint", "POST"),
  at("userinfo_endpoint", "GET", "POST"),
];
// Decisions A3: no page of an app has a use for them.
const closed = [
  at("introspection_endpoint", "POST"),
  at("device_authorization_endpoint", "POST"),
  at("authorization_endpoint", "GET", "POST"),
  at("end_session_endpoint", "GET", "POST"),
  { path: "/ui/login/loginname", methods: ["GET", "POST"] },
  { path: "/device", methods: ["GET", "POST"] },
];
const app = "https://rp.test";
const strangers = [
  "https://evil.test",
  "null",
  "https://rp.test.evil.test",
  "http://rp.test",
  "https://rp.test:444",
  "https://xrp.test",
  `${app}/`,
];

const corsOf = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith("access-control-")));
const call = (path: string, method: string, origin: string, more = {}) =>
  fetch(`${issuer}${path}`, {
    method,
    redirect: "manual",
    headers: { origin, ...more },
    ...(method === "POST" ? { body: new URLSearchParams({ client_id: client.clientId }) } : {}),
  });
const preflight = (path: string, method: string, origin: string) =>
  fetch(`${issuer}${path}`, {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": method,
      "access-control-request-headers": "authorization,content-type",
    },
  });

describe("D79: which pages of other origins may read the provider's answers", () => {
  for (const { path, methods } of open) {
    it(`${path}: all, and never with credentials`, async () => {
      for (const origin of [app, ...strangers]) {
        const [method = ""] = methods;
        const answer = await call(path, method, origin);
        assert.equal(answer.status, 200);
        assert.equal(corsOf(answer)["access-control-allow-origin"], "*", origin);
        assert.equal(corsOf(answer)["access-control-allow-credentials"], undefined);
        const asked = await preflight(path, method, origin);
        assert.deepEqual([asked.status, corsOf(asked)["access-control-allow-origin"]], [204, "*"]);
        assert.equal(corsOf(asked)["access-control-allow-credentials"], undefined);
      }
    });
  }

  for (const { path, methods } of forApps) {
    it(`${path}: those of active apps, refusals too, and never with credentials`, async () => {
      for (const method of methods) {
        const asked = await preflight(path, method, app);
        assert.equal(asked.status, 204);
        const allowed = corsOf(asked);
        assert.equal(allowed["access-control-allow-origin"], app);
        assert.ok(allowed["access-control-allow-methods"]?.split(", ").includes(method));
        assert.match(allowed["access-control-allow-headers"] ?? "", /authorization/);
        const answer = await call(path, method, app);
        assert.ok(answer.status >= 400, path);
        assert.equal(corsOf(answer)["access-control-allow-origin"], app);
        assert.equal(answer.headers.get("vary"), "origin");
        for (const each of [asked, answer]) {
          assert.equal(corsOf(each)["access-control-allow-credentials"], undefined);
        }
      }
    });

    it(`${path}: none of a stranger's, whatever token or client they name`, async () => {
      for (const origin of strangers) {
        for (const method of methods) {
          assert.deepEqual(corsOf(await preflight(path, method, origin)), {}, origin);
          const forged = { authorization: `Bearer ${client.clientId}` };
          for (const more of [{}, forged]) {
            assert.deepEqual(corsOf(await call(path, method, origin, more)), {}, origin);
          }
        }
      }
    });
  }

  for (const { path, methods } of closed) {
    it(`${path}: none at all`, async () => {
      for (const origin of [app, ...strangers]) {
        for (const method of methods) {
          assert.deepEqual(corsOf(await call(path, method, origin)), {}, origin);
          const asked = await preflight(path, method, origin);
          assert.equal(asked.status, 405, origin);
          assert.deepEqual(corsOf(asked), {}, origin);
        }
      }
    });
  }
});
