// Run: shared
import assert from "node:assert/strict";
import { after, it } from "node:test";
import { examine } from "../../src/app/examine.ts";
import { startPeer } from "../support/peer.ts";

let shift = 0;
const day = 24 * 3_600_000;
const lines: string[] = [];
const peer = await startPeer({
  now: () => new Date(Date.now() + shift),
  log: (line) => void lines.push(line),
});
const { app } = peer;
after(() => peer[Symbol.asyncDispose]());

const told = async () =>
  (await examine(app.kernel)).concerns
    .filter(({ name }) => name === "unconfigured_proxies")
    .map(({ count, some }) => ({ count, some }));
const warnings = () => lines.filter((line) => line.includes("IDSVC_TRUSTED_PROXIES"));
const ask = (headers: Record<string, string>) => fetch(`${app.url}/readyz`, { headers });
const remembered = async () => {
  for (let tries = 0; tries < 100 && (await told()).length === 0; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return told();
};

it("J12: doctor and the log tell once of a proxy that nobody configured", async () => {
  await ask({});
  await ask({ "x-forwarded-proto": "https" });
  assert.deepEqual(await told(), []);
  for (const headers of [{ "x-forwarded-for": "203.0.113.5" }, { forwarded: "for=203.0.113.5" }]) {
    for (let nth = 0; nth < 3; nth += 1) assert.equal((await ask(headers)).status, 200);
  }
  assert.deepEqual(await remembered(), [{ count: 1, some: ["127.0.0.1"] }]);
  assert.equal(warnings().length, 1);
  assert.ok(warnings()[0]?.includes('"127.0.0.1"'));
  assert.ok(!lines.join("").includes("203.0.113.5"), "the client's address is nobody's to tell");
  // A proxy that is gone is forgotten.
  shift = 31 * day;
  assert.deepEqual(await told(), []);
});

it("J12: nothing is told of a proxy that is trusted", async () => {
  await using other = await startPeer({ env: { IDSVC_TRUSTED_PROXIES: "127.0.0.1,::1" } });
  await fetch(`${other.app.url}/readyz`, { headers: { "x-forwarded-for": "203.0.113.5" } });
  assert.deepEqual((await examine(other.app.kernel)).concerns, []);
});
