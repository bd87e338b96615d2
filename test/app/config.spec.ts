// Run: shared, store
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { describe, it } from "node:test";
import { listOptions, masterKeyRule } from "../../src/app/config.ts";
import { DomainError } from "../../src/errors.ts";
import { fileOf, load, masterKey, refused, shown } from "./configure.ts";

describe("configuration without any setting", () => {
  it("serves on 127.0.0.1:8080 as http://localhost:8080, with SQLite under ./data", () => {
    const config = load();
    assert.equal(config.host, "127.0.0.1");
    assert.equal(config.port, 8080);
    assert.equal(config.externalUrl, "http://localhost:8080");
    assert.equal(config.dataDir, resolve("data"));
    assert.deepEqual(config.databaseUrl, { kind: "sqlite", file: resolve("data/idsvc.db") });
  });
  it("has the limits of the specification", () => {
    const config = load();
    assert.deepEqual(
      [config.listLimitDefault, config.listLimitMax, config.historyLimitDefault, config.rateLimit],
      [100, 1000, 1000, 0],
    );
    assert.deepEqual(
      [config.maxMessageBytes, config.callTimeoutMs, config.shutdownTimeoutMs],
      [4 * 1024 * 1024, 30_000, 10_000],
    );
  });
  it("has the resource and settings APIs on and token exchange off", () => {
    const config = load();
    assert.equal(config.featureMultitenancyResourcesApi, true);
    assert.equal(config.featureMultitenancySettings, true);
    assert.equal(config.featureOidcTokenExchange, false);
  });
  it("trusts no proxy, knows no system caller and has no list of allowed addresses", () => {
    const config = load();
    assert.deepEqual(config.trustedProxies, []);
    assert.deepEqual(config.systemCallers, []);
    assert.equal(config.egressAllow, undefined);
  });
  it("follows the port and TLS in the external URL, and the data folder in the database", () => {
    assert.equal(load({ flags: { port: "9000" } }).externalUrl, "http://localhost:9000");
    const pem = fileOf("pem");
    assert.equal(
      load({ flags: { tlsCert: pem, tlsKey: pem } }).externalUrl,
      "https://localhost:8080",
    );
    assert.deepEqual(load({ env: { IDSVC_DATA_DIR: "/var/x" } }).databaseUrl, {
      kind: "sqlite",
      file: "/var/x/idsvc.db",
    });
  });
  it("is frozen", () => {
    const config = load({ env: { IDSVC_EGRESS_ALLOW: "10.0.0.1" } });
    assert.ok(Object.isFrozen(config));
    assert.ok(Object.isFrozen(config.egressAllow));
    assert.ok(Object.isFrozen(config.systemCallers));
  });
});

describe("secrets", () => {
  const secrets = { IDSVC_MASTER_KEY: masterKey, IDSVC_BOOTSTRAP_TOKEN: "MARKER-token" };

  it("come from a file named by _FILE in every layer, without the newline at its end", () => {
    const path = fileOf("MARKER-token\n");
    for (const input of [
      { env: { IDSVC_BOOTSTRAP_TOKEN_FILE: path } },
      { flags: { "bootstrap-token-file": path } },
      { files: [fileOf(`bootstrap_token_file: ${path}\n`)] },
    ])
      assert.equal(load(input).bootstrapToken, "MARKER-token");
  });
  it("of a higher layer win in either form", () => {
    const path = fileOf("low");
    const config = load({ files: [fileOf(`bootstrap_token_file: ${path}\n`)], env: secrets });
    assert.equal(config.bootstrapToken, "MARKER-token");
  });
  it("are masked when shown, and when the configuration is logged by mistake", () => {
    const url = "postgres://app:MARKER@db.test:5432/ids?password=MARKER";
    const config = load({ env: { ...secrets, IDSVC_DATABASE_URL: url } });
    assert.deepEqual(config.databaseUrl, { kind: "postgres", url });
    const text = JSON.stringify(config.describe());
    assert.ok(!text.includes("MARKER") && !text.includes(masterKey));
    assert.equal(shown(config, "IDSVC_DATABASE_URL")?.value, "postgres://app:***@db.test:5432/ids");
    assert.equal(shown(config, "IDSVC_MASTER_KEY")?.value, "***");
    assert.ok(!JSON.stringify(config).includes("MARKER"));
  });
  it("are refused in both forms at once", () =>
    refused(
      { env: { ...secrets, IDSVC_MASTER_KEY_FILE: "/k" } },
      "CONFIG_OPTION_TWICE",
      "IDSVC_MASTER_KEY_FILE",
    ));
  it("are refused when their file cannot be read", () =>
    refused(
      { env: { IDSVC_MASTER_KEY_FILE: "/nowhere/key" } },
      "CONFIG_FILE_WRONG",
      "/nowhere/key",
      "ENOENT",
    ));
  it("have a _FILE form, other options have none", () =>
    refused({ env: { IDSVC_PORT_FILE: "/x" } }, "CONFIG_OPTION_UNKNOWN", "IDSVC_PORT_FILE"));
  for (const key of [
    "MARKER",
    "",
    "MARKER".repeat(9),
    `${masterKey}=`,
    Buffer.alloc(31).toString("base64"),
  ])
    it(`refuse the master key "${key}" without repeating it`, () =>
      refused(
        { env: { IDSVC_MASTER_KEY: key } },
        "CONFIG_VALUE_WRONG",
        "IDSVC_MASTER_KEY",
        "32 bytes in base64",
      ));
  it("are not repeated when their YAML is broken", () =>
    refused({ files: [fileOf("port: 1\nbootstrap_token: *MARKER\n")] }, "CONFIG_FILE_WRONG"));
  it("reads the key as 32 bytes", () =>
    assert.deepEqual(load({ env: secrets }).masterKey, new Uint8Array(32).fill(9)));
});

describe("options that depend on each other", () => {
  it("refuse a certificate without key and a key without certificate", () => {
    const pem = fileOf("pem");
    refused({ env: { IDSVC_TLS_CERT: pem } }, "CONFIG_TLS_INCOMPLETE", "IDSVC_TLS_KEY");
    refused({ env: { IDSVC_TLS_KEY: pem } }, "CONFIG_TLS_INCOMPLETE", "IDSVC_TLS_CERT");
  });
  it("refuse a default limit above the maximum", () => {
    refused(
      { env: { IDSVC_LIST_LIMIT_MAX: "50" } },
      "CONFIG_LIMITS_CONTRADICT",
      "IDSVC_LIST_LIMIT_DEFAULT",
    );
    refused(
      { env: { IDSVC_HISTORY_LIMIT_DEFAULT: "5000" } },
      "CONFIG_LIMITS_CONTRADICT",
      "IDSVC_HISTORY_LIMIT_MAX",
    );
  });
  it("ask for a master key as soon as the host is not loopback", () => {
    for (const host of ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
      masterKeyRule(load({ flags: { host } }));
    for (const host of ["0.0.0.0", "::", "10.0.0.1", "id.test", "localhost.test"]) {
      masterKeyRule(load({ flags: { host, masterKey } }));
      assert.throws(
        () => masterKeyRule(load({ flags: { host } })),
        (error: unknown) => {
          assert.ok(error instanceof DomainError);
          assert.equal(error.kind, "invalidArgument");
          assert.equal(error.reason, "MASTER_KEY_REQUIRED");
          return true;
        },
      );
    }
  });
});

describe("listing the options", () => {
  it("gives each a reason, what is right, and its value without any setting", () => {
    for (const option of listOptions()) {
      assert.ok(option.why.length > 10, option.env);
      assert.ok(option.expected.length > 3, option.env);
      assert.ok(!option.value.includes("undefined"), option.env);
    }
  });
  it("spells a name alike in every layer", () =>
    assert.partialDeepStrictEqual(
      listOptions().find(({ name }) => name === "tlsCert"),
      { env: "IDSVC_TLS_CERT", flag: "--tls-cert", yaml: "tls_cert", secret: false },
    ));
});
