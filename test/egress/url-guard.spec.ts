// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { DomainError } from "../../src/errors.ts";
import {
  allowsLoopbackByDefault,
  checkTargetUrl,
  egressAllowInForce,
  isAddressAllowed,
  parseEgressAllow,
} from "../../src/egress/url-guard.ts";

const none = parseEgressAllow([]);
const refused = (rule: string) => (error: unknown) => {
  assert.ok(error instanceof DomainError);
  assert.equal(error.kind, "invalidArgument");
  assert.equal(error.reason, "TARGET_URL_DENIED");
  assert.equal(error.metadata["rule"], rule);
  const byConfiguration = rule === "address" || rule === "port";
  assert.equal(error.metadata["setting"], byConfiguration ? "IDSVC_EGRESS_ALLOW" : undefined);
  assert.equal(error.violations[0]?.field, "target.url");
  return true;
};

describe("checking a target URL at create (D65)", () => {
  for (const url of [
    "https://hooks.example.com/a?b=c",
    "http://hooks.example.com:8080",
    "https://hooks.example.com:443/",
    "http://8.8.8.8/",
    "http://[2606:4700::1111]:8443/",
    "http://[::ffff:8.8.8.8]/",
    "http://[64:ff9b::808:808]/",
    "https://b\u00fccher.example/",
  ])
    it(`D65: accepts ${url}`, () => checkTargetUrl(url, none));

  for (const url of [
    "file:///etc/passwd",
    "ftp://example.com/",
    "gopher://example.com:70/",
    "data:,x",
    "javascript:1",
  ])
    it(`D65: refuses the scheme of ${url}`, () =>
      assert.throws(() => checkTargetUrl(url, none), refused("scheme")));

  for (const url of [
    "",
    "example.com",
    "/path",
    "http://",
    "http://[fe80::1%25eth0]/",
    "http://256.1.1.1/",
    "http://a b/",
  ])
    it(`D65: refuses "${url}", which is no URL`, () =>
      assert.throws(() => checkTargetUrl(url, none), refused("syntax")));

  for (const url of [
    "http://user@example.com/",
    "http://:secret@example.com/",
    "http://example.com@127.0.0.1/",
  ])
    it(`D65: refuses the user information of ${url}`, () =>
      assert.throws(() => checkTargetUrl(url, none), refused("userinfo")));

  for (const host of [
    "127.0.0.1",
    "localhost",
    "LOCALHOST.",
    "a.localhost",
    "127.0.0.1.",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f.1",
    "0x7f000001",
    "0177.0.0.1",
    "017700000001",
    "%31%32%37.0.0.1",
    "\u2460\u2461\u2466.\u24ea.\u24ea.\u2460",
    "127\u30020\u30020\u30021",
    "0.0.0.0",
    "0",
    "10.0.0.1",
    "100.64.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.19.255.255",
    "203.0.113.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "[::1]",
    "[::]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::ffff:10.0.0.1]",
    "[::127.0.0.1]",
    "[::ffff:0:127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b::10.0.0.1]",
    "[64:ff9b:1::1]",
    "[2002:7f00:1::]",
    "[2001::1]",
    "[2001:db8::1]",
    "[fe80::1]",
    "[fec0::1]",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[ff02::1]",
    "[100::1]",
    "[4000::1]",
  ])
    it(`D65: refuses the internal address ${host}`, () => {
      assert.throws(() => checkTargetUrl(`http://${host}/`, none), refused("address"));
      assert.throws(() => checkTargetUrl(`https://${host}:8443/hook`, none), refused("address"));
    });

  for (const port of [0, 1, 22, 25, 79, 81, 444, 1023])
    it(`D65: refuses port ${port}`, () => {
      assert.throws(() => checkTargetUrl(`http://example.com:${port}/`, none), refused("port"));
      assert.throws(() => checkTargetUrl(`http://8.8.8.8:${port}/`, none), refused("port"));
    });
});

describe("allowing a target by configuration", () => {
  const accepts = (entries: string[], url: string) =>
    checkTargetUrl(url, parseEgressAllow(entries));
  const denies = (entries: string[], url: string, rule: string) =>
    assert.throws(() => checkTargetUrl(url, parseEgressAllow(entries)), refused(rule));

  it("takes a network on ordinary ports", () => {
    accepts(["10.0.0.0/8"], "http://10.1.2.3:8080/");
    accepts(["10.0.0.0/8"], "http://[::ffff:10.1.2.3]/");
    accepts(["fd00::/8"], "https://[fd12::1]/");
    denies(["10.0.0.0/8"], "http://11.0.0.1:25/", "port");
    denies(["10.0.0.0/8"], "http://10.1.2.3:25/", "port");
    denies(["10.0.0.0/8"], "http://192.168.0.1/", "address");
    denies(["fd00::/8"], "http://10.0.0.1/", "address");
  });
  it("takes a network on one port alone", () => {
    accepts(["10.0.0.0/8:25"], "http://10.1.2.3:25/");
    accepts(["[fd00::/8]:8443"], "https://[fd12::1]:8443/");
    denies(["10.0.0.0/8:25"], "http://10.1.2.3:8080/", "address");
    denies(["[fd00::/8]:8443"], "https://[fd12::1]/", "address");
  });
  it("takes a single address", () => {
    accepts(["127.0.0.1", "::1"], "http://localhost:3000/");
    accepts(["[::1]"], "http://[::1]:3000/");
    accepts(["[::1]:3000"], "http://localhost:3000/");
    denies(["127.0.0.1"], "http://127.0.0.2/", "address");
    denies(["127.0.0.1"], "http://[::1]/", "address");
  });
  it("takes a host whatever its address, or every host below a name", () => {
    accepts(["localhost"], "http://localhost:3000/");
    accepts(["*.localhost"], "http://a.b.localhost/");
    accepts(["hooks.internal:25"], "http://HOOKS.internal.:25/");
    denies(["*.localhost"], "http://localhost/", "address");
    denies(["localhost"], "http://127.0.0.1/", "address");
    denies(["hooks.internal:25"], "http://hooks.internal:26/", "port");
    denies(["hooks.internal"], "http://hooks.internal:25/", "port");
    denies(["hooks.internal:25"], "http://evilhooks.internal:25/", "port");
  });
  it("takes a low port for all addresses that are allowed otherwise", () => {
    accepts(["*:25"], "http://example.com:25/");
    accepts(["*:25", "10.0.0.0/8"], "http://10.0.0.1:25/");
    denies(["*:25"], "http://10.0.0.1:25/", "address");
    denies(["*:25"], "http://example.com:26/", "port");
  });
  it("does not let NAT64 forms borrow what is allowed for the address inside", () =>
    denies(["127.0.0.0/8"], "http://[64:ff9b::7f00:1]/", "address"));

  for (const entry of [
    "",
    "*",
    "*:0",
    "*:70000",
    "10.0.0.0/33",
    "::1/129",
    "a b",
    "http://a",
    "a:b",
    "127.1",
    "0x7f.1",
    "2130706433",
    "[10.0.0.1]:80",
    "[fd00::]/8",
    "10.0.0.1:",
    "a/8",
    "a?b",
    "a\\b",
    "%61",
    "fe80::1%eth0",
    "*.*.a",
    "-",
  ])
    it(`refuses the entry "${entry}"`, () =>
      assert.throws(
        () => parseEgressAllow(["10.0.0.0/8", entry]),
        (error: unknown) => {
          assert.ok(error instanceof DomainError);
          assert.equal(error.kind, "invalidArgument");
          assert.equal(error.reason, "EGRESS_ENTRY_INVALID");
          assert.equal(error.metadata["entry"], entry);
          return true;
        },
      ));
});

describe("the list in force", () => {
  it("holds loopback when the service lives on localhost and no list is configured", () => {
    assert.ok(allowsLoopbackByDefault(undefined, "http://localhost:8080"));
    checkTargetUrl(
      "http://127.0.0.1:9000/",
      egressAllowInForce(undefined, "http://localhost:8080"),
    );
    checkTargetUrl(
      "http://localhost:9000/",
      egressAllowInForce(undefined, "http://localhost:8080"),
    );
    checkTargetUrl("http://[::1]:9000/", egressAllowInForce(undefined, "http://localhost:8080"));
  });
  it("holds no other internal address then", () =>
    assert.throws(
      () =>
        checkTargetUrl("http://10.0.0.1/", egressAllowInForce(undefined, "http://localhost:8080")),
      refused("address"),
    ));
  it("holds nothing when the service has a public address", () => {
    assert.ok(!allowsLoopbackByDefault(undefined, "https://id.example.com"));
    assert.throws(
      () =>
        checkTargetUrl(
          "http://127.0.0.1/",
          egressAllowInForce(undefined, "https://id.example.com"),
        ),
      refused("address"),
    );
  });
  it("is the configured list and nothing more, even an empty one", () => {
    for (const configured of [[], ["10.0.0.0/8"]])
      assert.throws(
        () =>
          checkTargetUrl(
            "http://127.0.0.1/",
            egressAllowInForce(configured, "http://localhost:8080"),
          ),
        refused("address"),
      );
  });
});

describe("checking the address connected to", () => {
  it("takes it as a socket tells it", () => {
    assert.ok(isAddressAllowed("8.8.8.8", 443, none));
    assert.ok(isAddressAllowed("::ffff:8.8.8.8", 443, none));
    assert.ok(!isAddressAllowed("::ffff:127.0.0.1", 443, none));
    assert.ok(!isAddressAllowed("fe80::1%eth0", 443, none));
    assert.ok(isAddressAllowed("::ffff:127.0.0.1", 443, parseEgressAllow(["127.0.0.1"])));
  });
  it("allows an internal address of a host that is allowed by name", () => {
    const allow = parseEgressAllow(["hooks.internal"]);
    assert.ok(isAddressAllowed("10.0.0.1", 443, allow, "hooks.internal"));
    assert.ok(!isAddressAllowed("10.0.0.1", 443, allow, "other.internal"));
    assert.ok(!isAddressAllowed("10.0.0.1", 443, allow));
  });
  it("refuses what is no address and no port", () => {
    for (const ip of ["", "localhost", "127.1", "1.2.3.4.5", ":::"])
      assert.ok(!isAddressAllowed(ip, 443, none), ip);
    for (const port of [0, -1, 65_536, Number.NaN])
      assert.ok(!isAddressAllowed("8.8.8.8", port, none));
  });
});
