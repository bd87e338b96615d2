// Run: shared, store
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, it } from "node:test";
import { type Config, listOptions } from "../../src/app/config.ts";
import { DomainError } from "../../src/errors.ts";
import { fileOf, load, masterKey, refused, shown } from "./configure.ts";

const root = resolve(import.meta.dirname, "../..");
const publicKey = generateKeyPairSync("ed25519")
  .publicKey.export({ type: "spki", format: "pem" })
  .toString();

describe("layers", () => {
  const one = fileOf("port: 1111\nlog_level: debug\nlist_limit_max: 500\nhost: '::1'\n");
  const two = fileOf("port: 2222\nlog_level: warn\nhost: localhost\n");

  it("order files before environment before flags, later files over earlier ones", () => {
    const config = load({
      files: [one, two],
      env: { IDSVC_PORT: "3333", IDSVC_LOG_LEVEL: "error" },
      flags: { port: "4444" },
    });
    assert.equal(config.port, 4444);
    assert.equal(config.logLevel, "error");
    assert.equal(config.host, "localhost");
    assert.equal(config.listLimitMax, 500);
  });
  it("are told for each option: which flag, variable, file and key, or the default", () => {
    const config = load({
      files: [one],
      env: { IDSVC_LOG_LEVEL: "error" },
      flags: { port: "4444" },
    });
    assert.equal(shown(config, "IDSVC_PORT")?.source, "flag --port");
    assert.equal(shown(config, "IDSVC_LOG_LEVEL")?.source, "variable IDSVC_LOG_LEVEL");
    assert.equal(shown(config, "IDSVC_HOST")?.source, `file ${one} (host)`);
    assert.equal(shown(config, "IDSVC_DATA_DIR")?.source, "default");
  });
  it("take every option, so that no option lacks a layer", () => {
    const pem = fileOf("pem");
    const samples: Record<string, string> = {
      IDSVC_HOST: "localhost",
      IDSVC_PORT: "1",
      IDSVC_EXTERNAL_URL: "https://a.test",
      IDSVC_DATA_DIR: "/d",
      IDSVC_DATABASE_URL: "/d/x.db",
      IDSVC_MASTER_KEY: masterKey,
      IDSVC_MASTER_KEY_PREVIOUS: masterKey,
      IDSVC_EGRESS_ALLOW: "10.0.0.0/8",
      IDSVC_TRUSTED_PROXIES: "10.0.0.0/8",
      IDSVC_TLS_CERT: pem,
      IDSVC_TLS_KEY: pem,
      IDSVC_PROCESSES: "1",
      IDSVC_LOG_LEVEL: "warn",
      IDSVC_BOOTSTRAP_ORGANIZATION: "Acme",
      IDSVC_BOOTSTRAP_ADMIN_PASSWORD: "password1",
      IDSVC_BOOTSTRAP_PRINT: "false",
      IDSVC_BOOTSTRAP_TOKEN: "token",
      IDSVC_SYSTEM_CALLERS: JSON.stringify({ ops: publicKey }),
      IDSVC_LIST_LIMIT_DEFAULT: "2",
      IDSVC_LIST_LIMIT_MAX: "3",
      IDSVC_HISTORY_LIMIT_DEFAULT: "2",
      IDSVC_HISTORY_LIMIT_MAX: "3",
      IDSVC_FOLLOWERS: "9",
      IDSVC_FOLLOWERS_PER_CALLER: "4",
      IDSVC_RATE_LIMIT: "5",
      IDSVC_RATE_LIMIT_CHANGES: "4",
      IDSVC_RATE_LIMIT_INSTANCE: "50",
      IDSVC_RATE_LIMIT_INSTANCE_CHANGES: "40",
      IDSVC_LOG_ADDRESSES: "hashed",
      IDSVC_METRICS_PORT: "9464",
      IDSVC_METRICS_TOKEN: "a-token-of-metrics",
      IDSVC_PROXY_HEADERS: "forwarded",
      IDSVC_PLACES: fileOf(""),
      IDSVC_BREACHED_PASSWORDS: fileOf(""),
      IDSVC_BREACHED_PASSWORDS_URL: "https://range.test/range/",
      IDSVC_BUDGET_GUESSES: "7",
      IDSVC_BUDGET_MESSAGES: "0",
      IDSVC_BUDGET_RECIPIENT_MESSAGES: "6",
      IDSVC_BUDGET_SENDER_MESSAGES: "21",
      IDSVC_BUDGET_REGISTRATIONS: "22",
      IDSVC_BUDGET_FLOWS: "400",
      IDSVC_BUDGET_UNAUTHENTICATED: "500",
      IDSVC_BUDGET_CONNECTIONS: "300",
      IDSVC_MAX_MESSAGE_BYTES: "1MiB",
      IDSVC_CALL_TIMEOUT: "1s",
      IDSVC_SHUTDOWN_TIMEOUT: "1s",
      IDSVC_MAX_CONNECTIONS: "5",
      IDSVC_FEATURE_MULTITENANCY_RESOURCES_API: "false",
      IDSVC_FEATURE_MULTITENANCY_SETTINGS: "false",
      IDSVC_FEATURE_OIDC_TOKEN_EXCHANGE: "true",
    };
    assert.deepEqual(
      listOptions()
        .map(({ env }) => env)
        .sort(),
      Object.keys(samples).sort(),
    );
    const keyed = (key: "yaml" | "flag") =>
      Object.fromEntries(listOptions().map((option) => [option[key], samples[option.env] ?? ""]));
    const strip = (config: Config) =>
      config
        .describe()
        .map(({ env, value, source }) => ({ env, value, isDefault: source === "default" }));
    const byVariable = load({ env: samples });
    assert.deepEqual(
      strip(byVariable).filter(({ isDefault }) => isDefault),
      [],
    );
    assert.deepEqual(strip(load({ flags: keyed("flag") })), strip(byVariable));
    assert.deepEqual(
      strip(load({ files: [fileOf(JSON.stringify(keyed("yaml")))] })),
      strip(byVariable),
    );
  });
  it("take flags as commander names them", () =>
    assert.equal(load({ flags: { callTimeout: "5s", port: undefined } }).callTimeoutMs, 5000));
  it("take YAML nested at any underscore", () => {
    const file = fileOf(
      "list_limit:\n  default: 20\n  max: 30\nfeature:\n  oidc: {token_exchange: true}\n",
    );
    const config = load({ files: [file] });
    assert.deepEqual(
      [config.listLimitDefault, config.listLimitMax, config.featureOidcTokenExchange],
      [20, 30, true],
    );
    assert.equal(shown(config, "IDSVC_LIST_LIMIT_MAX")?.source, `file ${file} (list_limit.max)`);
  });
  it("take lists as YAML lists or with commas", () => {
    const expected = ["10.0.0.0/8", "::1"];
    assert.deepEqual(
      load({ env: { IDSVC_TRUSTED_PROXIES: " 10.0.0.0/8, ::1 " } }).trustedProxies,
      expected,
    );
    assert.deepEqual(load({ flags: { "trusted-proxies": expected } }).trustedProxies, expected);
    const file = fileOf("trusted_proxies:\n  - 10.0.0.0/8\n  - '::1'\n");
    assert.deepEqual(load({ files: [file] }).trustedProxies, expected);
  });
  it("tell an empty list from none", () =>
    assert.deepEqual(load({ env: { IDSVC_EGRESS_ALLOW: "" } }).egressAllow, []));
  it("keep text in YAML as it is written", () =>
    assert.equal(load({ files: [fileOf("bootstrap_token: 0123\n")] }).bootstrapToken, "0123"));
  it("take an empty file for nothing", () =>
    assert.equal(load({ files: [fileOf("# none\n")] }).port, 8080));
});

describe("an unknown option", () => {
  it("is refused with the one that was meant", () => {
    refused(
      { env: { IDSVC_PROT: "1" } },
      "CONFIG_OPTION_UNKNOWN",
      "variable IDSVC_PROT",
      "did you mean IDSVC_PORT?",
    );
    refused(
      { flags: { "extrenal-url": "x" } },
      "CONFIG_OPTION_UNKNOWN",
      "did you mean --external-url?",
    );
    const file = fileOf("tls: {crt: x}\n");
    refused(
      { files: [file] },
      "CONFIG_OPTION_UNKNOWN",
      `file ${file} (tls.crt)`,
      "did you mean tls_cert?",
    );
  });
  it("that nothing is like is refused too", () =>
    refused(
      { env: { IDSVC_COLOUR_OF_THE_SKY: "1" } },
      "CONFIG_OPTION_UNKNOWN",
      /lists all options/,
    ));
  for (const key of ["__proto__", "constructor", "toString", "IDSVC_PORT", "Port", ""])
    it(`is refused in YAML under the name "${key}"`, () =>
      refused({ files: [fileOf(`"${key}": 1\n`)] }, "CONFIG_OPTION_UNKNOWN"));
  it("is not looked for among variables of others", () => {
    const env = {
      PORT: "1",
      IDSVC_SERVICE_HOST: "10.0.0.1",
      IDSVC_PORT_8080_TCP_ADDR: "x",
      IDSVC_TEST_POSTGRES: "x",
      IDSVC_TOKEN: "idsvc_pat_x",
    };
    assert.equal(load({ env }).port, 8080);
  });
});

describe("the variables that the pages and the commands name", () => {
  const named = [
    ...globSync(["README.md", "docs/*.md"], { cwd: root }).flatMap((path) => [
      ...readFileSync(join(root, path), "utf8").matchAll(/\bIDSVC_[A-Z_]*[A-Z]\b/g),
    ]),
    ...globSync("src/**/*.ts", { cwd: root }).flatMap((path) => [
      ...readFileSync(join(root, path), "utf8").matchAll(/env\["(IDSVC_[A-Z_]+)"\]/g),
    ]),
  ].map(([all, name = all]) => name);
  for (const name of new Set(named))
    it(`${name} keeps no command from running`, () => {
      try {
        load({ env: { [name]: "x" } });
      } catch (error) {
        assert.ok(error instanceof DomainError);
        assert.notEqual(error.reason, "CONFIG_OPTION_UNKNOWN", error.message);
      }
    });
});

describe("a configuration file", () => {
  it("is refused when it cannot be read", () =>
    refused({ files: ["/nowhere.yaml"] }, "CONFIG_FILE_WRONG", "/nowhere.yaml", "ENOENT"));
  it("is refused with line and column when it is no YAML", () =>
    refused({ files: [fileOf("port: 1\n  host: x\n")] }, "CONFIG_FILE_WRONG", /line 1|line 2/));
  it("is refused when a key stands twice", () =>
    refused({ files: [fileOf("port: 1\nport: 2\n")] }, "CONFIG_FILE_WRONG", "line 2"));
  it("is refused when an option stands in it in two spellings", () =>
    refused(
      { files: [fileOf("tls_cert: a\ntls: {cert: b}\n")] },
      "CONFIG_OPTION_TWICE",
      "tls_cert",
      "tls.cert",
    ));
  it("is refused when it is no map, or has tags", () => {
    refused({ files: [fileOf("- port\n")] }, "CONFIG_FILE_WRONG", "map of options");
    refused({ files: [fileOf("just text\n")] }, "CONFIG_FILE_WRONG", "map of options");
    refused({ files: [fileOf("port: !!js/function x\n")] }, "CONFIG_FILE_WRONG", "line 1");
  });
});
