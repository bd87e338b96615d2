// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { resolveOrigin } from "../../src/api/proxy.ts";
import { parseNetwork } from "../../src/egress/url-guard.ts";
import { startTestApp } from "../support/app.ts";

const network = parseNetwork("10.0.0.0/8") ?? assert.fail();
const seen = { host: "inner", scheme: "http", peer: "10.1.2.3" } as const;
const headers = (given: Record<string, string>) => ({
  get: (name: string) => given[name],
  names: () => Object.keys(given),
  count: (name: string) => (name in given ? 1 : 0),
});

describe("X-Forwarded-* and Forwarded", () => {
  it("count when they come from a trusted proxy", () => {
    const said = {
      "x-forwarded-host": "id.test",
      "x-forwarded-proto": "https",
      "x-forwarded-for": "1.2.3.4",
    };
    assert.deepEqual(resolveOrigin([network])(seen, headers(said)), {
      host: "id.test",
      scheme: "https",
      peer: "1.2.3.4",
      isProxied: true,
    });
  });
  it("are read as RFC 7239 writes them, where nothing else is there", () => {
    const said = { forwarded: 'for="[2001:db8::1]:4711";host="id.test:8443";proto=https' };
    const origin = { host: "id.test:8443", scheme: "https", peer: "2001:db8::1", isProxied: true };
    assert.deepEqual(resolveOrigin([network])(seen, headers(said)), origin);
    assert.deepEqual(resolveOrigin([network], "forwarded")(seen, headers(said)), origin);
  });
  it("D88: count as the proxy writes them, whatever the client sent of the other kind", () => {
    const said = {
      forwarded: "for=6.6.6.6;host=evil.test;proto=https",
      "x-forwarded-for": "1.2.3.4",
    };
    assert.deepEqual(resolveOrigin([network])(seen, headers(said)), {
      ...seen,
      peer: "1.2.3.4",
      isProxied: true,
    });
    assert.deepEqual(resolveOrigin([network], "forwarded")(seen, headers(said)), {
      host: "evil.test",
      scheme: "https",
      peer: "6.6.6.6",
      isProxied: true,
    });
  });
  it("J12: are told of where an address in a private network sends them and is not trusted", () => {
    const told: string[] = [];
    const resolve = resolveOrigin([network], "x-forwarded", (address) => told.push(address));
    const sent = { "x-forwarded-for": "1.2.3.4" };
    for (const peer of [
      "::ffff:192.168.0.7",
      "fd00::1",
      "203.0.113.1",
      "2001:db8::1",
      "10.1.1.1",
    ]) {
      resolve({ ...seen, peer }, headers(sent));
      resolve({ ...seen, peer }, headers({}));
    }
    assert.deepEqual(told, ["192.168.0.7", "fd00::1"]);
  });
  it("tell the nearest address that is no trusted proxy", () => {
    const chain = { "x-forwarded-for": "6.6.6.6, 1.2.3.4, 10.9.9.9" };
    assert.equal(resolveOrigin([network])(seen, headers(chain)).peer, "1.2.3.4");
    const hops = { forwarded: "for=6.6.6.6, for=1.2.3.4:80, for=10.9.9.9" };
    assert.equal(resolveOrigin([network])(seen, headers(hops)).peer, "1.2.3.4");
    const only = { "x-forwarded-for": "10.9.9.9" };
    assert.equal(resolveOrigin([network])(seen, headers(only)).peer, "10.1.2.3");
  });
  it("count only as the nearest hop tells them", () => {
    const said = {
      "x-forwarded-host": "evil.test, id.test",
      "x-forwarded-for": "6.6.6.6, 1.2.3.4",
    };
    const origin = resolveOrigin([network])(seen, headers(said));
    assert.deepEqual([origin.host, origin.peer], ["id.test", "1.2.3.4"]);
  });
  it("never bring a scheme that is none", () => {
    const said = { "x-forwarded-proto": "javascript" };
    assert.equal(resolveOrigin([network])(seen, headers(said)).scheme, "http");
  });
  it("count for nothing from anybody else", () => {
    const said = { "x-forwarded-host": "evil.test", forwarded: "host=evil.test" };
    const stranger = { ...seen, peer: "192.0.2.1" };
    assert.deepEqual(resolveOrigin([network])(stranger, headers(said)), stranger);
    assert.deepEqual(resolveOrigin([])(seen, headers(said)), seen);
  });
});

describe("a service behind a trusted proxy", () => {
  it("resolves the instance by the host that the proxy was asked for", async () => {
    await using service = await startTestApp({ env: { IDSVC_TRUSTED_PROXIES: "127.0.0.1,::1" } });
    const ask = (host: string) =>
      fetch(`http://127.0.0.1:${service.port}/settings/v3alpha/features`, {
        headers: { authorization: `Bearer ${service.token}`, "x-forwarded-host": host },
      });
    assert.equal((await ask("localhost:8080")).status, 200);
    assert.equal((await ask("evil.test")).status, 404);
  });
});
