// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isNearby, sourceOf } from "../../src/authz/source.ts";

describe("the source of a request (J12)", () => {
  for (const [address, source] of [
    ["203.0.113.7", "203.0.113.7"],
    ["::ffff:203.0.113.7", "203.0.113.7"],
    ["::ffff:cb00:7107", "203.0.113.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::9", "2001:db8:1:2::/64"],
    ["2001:0DB8:0001:0002::", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["", "unknown"],
    ["_hidden", "unknown"],
    ["203.0.113.7:4711", "unknown"],
    ["1".repeat(65_536), "unknown"],
  ] as const) {
    it(`is ${source} for ${address.slice(0, 40) || "nothing"}`, () => {
      assert.equal(sourceOf(address), source);
    });
  }
  it("is nearby on this machine and in private networks", () => {
    const near = ["127.0.0.1", "::1", "10.1.2.3", "192.168.0.9", "::ffff:172.16.0.1", "fd00::1"];
    const far = ["203.0.113.7", "2001:db8::1", "172.32.0.1", "::ffff:8.8.8.8", "junk", ""];
    assert.deepEqual(
      [near, far].map((all) => all.map((address) => isNearby(sourceOf(address)))),
      [near.map(() => true), far.map(() => false)],
    );
  });
});
