// Run: shared, store
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { resolve } from "node:path";
import { describe, it } from "node:test";
import { fileOf, load, refused, shown } from "./configure.ts";

const publicKey = generateKeyPairSync("ed25519")
  .publicKey.export({ type: "spki", format: "pem" })
  .toString();
const privateKey = generateKeyPairSync("ed25519")
  .privateKey.export({ type: "pkcs8", format: "pem" })
  .toString();
const smallKey = generateKeyPairSync("rsa", { modulusLength: 1024 })
  .publicKey.export({ type: "spki", format: "pem" })
  .toString();

describe("a wrong value", () => {
  it("is refused with option, source, what would be right, and what it is", () => {
    refused(
      { env: { IDSVC_PORT: "80a" } },
      "CONFIG_VALUE_WRONG",
      /IDSVC_PORT, set by variable IDSVC_PORT, must be a whole number from 0 to 65535, not "80a"/,
    );
    const file = fileOf("call_timeout: 30\n");
    refused(
      { files: [file] },
      "CONFIG_VALUE_WRONG",
      `file ${file} (call_timeout)`,
      "30s, 5m",
      'not "30"',
    );
    refused(
      { flags: { "log-level": "loud" } },
      "CONFIG_VALUE_WRONG",
      "flag --log-level",
      "trace, debug",
    );
  });
  for (const [env, ...values] of [
    ["IDSVC_PORT", "", "-1", "65536", "1e3", "0x50", " 80", "8080.0", "tcp://10.0.0.1:8080"],
    ["IDSVC_HOST", "", "a b", "http://x", "[::1]"],
    ["IDSVC_FEATURE_OIDC_TOKEN_EXCHANGE", "", "yes", "1", "TRUE"],
    ["IDSVC_CALL_TIMEOUT", "", "30", "0s", "2h", "-1s", "1.5s", "s"],
    ["IDSVC_MAX_MESSAGE_BYTES", "", "4MB", "1", "2GiB", "-1"],
    ["IDSVC_DATABASE_URL", "", "mysql://x", "postgres://[", "sqlite:"],
    ["IDSVC_EGRESS_ALLOW", "10.0.0.0/33", "http://x", "10.0.0.1,nope:x"],
    ["IDSVC_TRUSTED_PROXIES", "proxy.test", "10.0.0.0/99"],
    ["IDSVC_TLS_CERT", "", "/nowhere.pem", "/"],
    ["IDSVC_LIST_LIMIT_MAX", "0", "1000000"],
    ["IDSVC_BOOTSTRAP_ORGANIZATION", "", "a\nb", "x".repeat(201)],
    ["IDSVC_BOOTSTRAP_ADMIN_PASSWORD", "", "short"],
    ["IDSVC_BOOTSTRAP_TOKEN", "", "a b", "t\u00f6ken"],
    ["IDSVC_SYSTEM_CALLERS", "", "x", "[]", "{ops: nope}", "{ops: [a]}", "{ops"],
    [
      "IDSVC_EXTERNAL_URL",
      "",
      "id.test",
      "ftp://id.test",
      "https://id.test/a",
      "https://id.test?",
      "https://id.test#",
      "https://u@id.test",
      "https://id.test/?a=b",
      "https://id.test\\a",
    ],
  ] as const)
    for (const value of values)
      it(`of ${env} is refused: ${JSON.stringify(value.slice(0, 30))}`, () =>
        refused({ env: { [env]: value } }, "CONFIG_VALUE_WRONG", env));
  it("of one kind where another is needed is refused", () => {
    refused({ files: [fileOf("port: [1]\n")] }, "CONFIG_VALUE_WRONG", "IDSVC_PORT");
    for (const option of ["port", "trusted_proxies"])
      refused({ files: [fileOf(`${option}: {a: b}\n`)] }, "CONFIG_VALUE_WRONG", `(${option})`);
    refused({ flags: { port: ["1", "2"] } }, "CONFIG_VALUE_WRONG", "IDSVC_PORT");
  });
});

describe("values with a form of their own", () => {
  it("external URLs are kept as an origin", () => {
    const external = (url: string) => load({ env: { IDSVC_EXTERNAL_URL: url } }).externalUrl;
    assert.equal(external("https://ID.test:443/"), "https://id.test");
    assert.equal(external("http://[::1]:8080"), "http://[::1]:8080");
  });
  it("databases are a file or a PostgreSQL URL", () => {
    const database = (url: string) => load({ env: { IDSVC_DATABASE_URL: url } }).databaseUrl;
    for (const url of ["/d/x.db", "sqlite:/d/x.db", "sqlite:///d/x.db", "file:/d/x.db"])
      assert.deepEqual(database(url), { kind: "sqlite", file: "/d/x.db" });
    assert.deepEqual(database("x.db"), { kind: "sqlite", file: resolve("x.db") });
    refused({ env: { IDSVC_DATABASE_URL: ":memory:" } }, "CONFIG_VALUE_WRONG", "outlive");
    assert.deepEqual(database("postgresql://h/d"), { kind: "postgres", url: "postgresql://h/d" });
    assert.deepEqual(database("postgres:///d?host=/run"), {
      kind: "postgres",
      url: "postgres:///d?host=/run",
    });
  });
  it("durations add up and sizes know their unit", () => {
    const config = load({
      env: { IDSVC_CALL_TIMEOUT: "1m30s500ms", IDSVC_MAX_MESSAGE_BYTES: "64KiB" },
    });
    assert.deepEqual([config.callTimeoutMs, config.maxMessageBytes], [90_500, 65_536]);
    assert.equal(shown(config, "IDSVC_CALL_TIMEOUT")?.value, "90500ms");
    assert.equal(shown(config, "IDSVC_MAX_MESSAGE_BYTES")?.value, "64KiB");
  });
  it("system callers are names with public keys, in a variable or in a file", () => {
    const expected = [{ name: "ops", publicKey }];
    const yaml = `system_callers:\n  ops: |\n${publicKey.replaceAll(/^(?=.)/gm, "    ")}`;
    assert.deepEqual(load({ files: [fileOf(yaml)] }).systemCallers, expected);
    assert.deepEqual(
      load({ env: { IDSVC_SYSTEM_CALLERS: JSON.stringify({ ops: publicKey }) } }).systemCallers,
      expected,
    );
  });
  it("system callers with a private or a short key are refused", () => {
    for (const [key, word] of [
      [privateKey, "private key"],
      [smallKey, "2048"],
    ] as const)
      refused(
        { env: { IDSVC_SYSTEM_CALLERS: JSON.stringify({ ops: key }) } },
        "CONFIG_VALUE_WRONG",
        word,
      );
  });
});
