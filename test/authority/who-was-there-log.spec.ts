// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { TestOptions } from "../support/app.ts";
import { showAddresses } from "../../src/authz/shown-address.ts";
import { bodyOf, startPeer } from "../support/peer.ts";
import { assertRefused } from "../support/refusal.ts";

const trusted = { IDSVC_TRUSTED_PROXIES: "127.0.0.1,::1" };

/** What the log shows of the address of a call, of a refused one, and of a request that is no call. */
async function shownBy(env: TestOptions["env"], forwarded: string): Promise<unknown[]> {
  const lines: string[] = [];
  await using peer = await startPeer({
    env: { ...trusted, ...env },
    log: (text) => lines.push(text),
  });
  const headers = { "x-forwarded-for": forwarded };
  bodyOf(await peer.post("/users/_search", [], { headers }));
  const { refusal } = await peer.post("/users/_search", [], { headers, token: "wrong" });
  assertRefused(refusal, { code: 16, reason: "TOKEN_INVALID" });
  await fetch(`${peer.app.url}/oauth/v2/keys`, { headers });
  return lines
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => msg === "call" || msg === "request")
    .map((line) => line.clientAddress)
    .slice(-3);
}

const three = (shown: string | undefined) => [shown, shown, shown];

describe("addresses of clients in the log (IDSVC_LOG_ADDRESSES)", () => {
  it("are cut to their network where nothing else is said", async () => {
    assert.deepEqual(await shownBy({}, "203.0.113.77"), three("203.0.113.0/24"));
    assert.deepEqual(await shownBy({}, "2001:db8:1:2::3"), three("2001:db8:1::/48"));
  });

  it("are whole, digests or left out, as configured", async () => {
    const by = (form: string) => shownBy({ IDSVC_LOG_ADDRESSES: form }, "203.0.113.77");
    assert.deepEqual(await by("full"), three("203.0.113.77"));
    assert.deepEqual(await by("off"), three(undefined));
    const [one, ...others] = await by("hashed");
    assert.match(String(one), /^[0-9a-f]{16}$/);
    assert.deepEqual(others, [one, one]);
  });

  it("are told as unknown where a proxy sends what is no address", async () => {
    for (const form of ["cut", "full", "hashed"]) {
      const shown = await shownBy({ IDSVC_LOG_ADDRESSES: form }, "<script>");
      assert.deepEqual(shown, three("unknown"));
    }
  });
});

describe("a digest of an address", () => {
  const key = Buffer.alloc(32, 1);
  let day = 0;
  const now = () => new Date(Date.UTC(2026, 0, 1 + day));

  it("is another one the next day, and under another key", () => {
    const show = showAddresses("hashed", key, now);
    const first = show("203.0.113.77");
    assert.equal(showAddresses("hashed", key, now)("203.0.113.77"), first);
    assert.notEqual(show("203.0.113.78"), first);
    assert.notEqual(showAddresses("hashed", Buffer.alloc(32, 2), now)("203.0.113.77"), first);
    day = 1;
    assert.notEqual(show("203.0.113.77"), first);
  });
});
