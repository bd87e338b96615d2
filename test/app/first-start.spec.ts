// Run: shared, store
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { bootstrap } from "../../src/app/bootstrap.ts";
import { loadConfig } from "../../src/app/config.ts";
import { type Kernel, openKernel } from "../../src/app/kernel.ts";
import { DomainError } from "../../src/errors.ts";
import { silentLogger } from "../../src/telemetry/logger.ts";
import { engine, storeEnv } from "../support/app.ts";
import { beside } from "../support/beside.ts";

const keyOf = (byte: number) => Buffer.alloc(32, byte).toString("base64");

/** One empty store, and any number of processes that start on it. */
async function emptyStore() {
  const dataDir = mkdtempSync(join(tmpdir(), "idsvc-start-"));
  const env = await storeEnv(dataDir);
  return {
    dataDir,
    open: (key: number, more: Record<string, string> = {}) =>
      openKernel(
        loadConfig({
          files: [],
          flags: {},
          env: { IDSVC_DATA_DIR: dataDir, IDSVC_MASTER_KEY: keyOf(key), ...env, ...more },
        }),
        { logger: silentLogger() },
      ),
    [Symbol.dispose]: () => rmSync(dataDir, { recursive: true, force: true }),
  };
}

const wrongKey = (error: unknown) => {
  assert.ok(error instanceof DomainError, String(error));
  assert.deepEqual([error.kind, error.reason], ["failedPrecondition", "MASTER_KEY_WRONG"]);
  return true;
};

describe("the first start of several replicas at once", () => {
  it("makes one instance, which all of them serve", async () => {
    using store = await emptyStore();
    const kernels = await Promise.all([store.open(1), store.open(1), store.open(1)]);
    const made = await Promise.all(kernels.map((kernel) => bootstrap(kernel)));
    assert.equal(made.filter((each) => each !== undefined).length, 1);
    assert.equal((await kernels[0].db.heads()).size, 1);
    assert.ok(existsSync(join(store.dataDir, "bootstrap.json")));
    for (const kernel of kernels) await kernel[Symbol.asyncDispose]();
  });
  it("stops one that brought another master key, however late it notices (F21)", async () => {
    using store = await emptyStore();
    await using first = await store.open(1);
    await using second = await store.open(2);
    assert.ok(await bootstrap(first));
    await assert.rejects(bootstrap(second), wrongKey);
  });
});

describe("a start with another master key (F21)", () => {
  it("is refused before anything is written, the schema included", async () => {
    using store = await emptyStore();
    const index = "claims_scope_holder_type_holder_id_kind";
    const hasIndex = async (kernel: Kernel): Promise<boolean> => {
      const catalog = engine === "sqlite" ? "sqlite_schema" : "pg_indexes";
      const column = engine === "sqlite" ? "name" : "indexname";
      const { rows } = await beside(
        kernel,
        `SELECT 1 FROM ${catalog} WHERE ${column} = '${index}'`,
      );
      return rows.length === 1;
    };
    await using first = await store.open(1);
    assert.ok(await bootstrap(first));
    assert.equal(await hasIndex(first), true);
    // What a migration makes again, as soon as it is let.
    await beside(first, `DROP INDEX ${index}`);
    await assert.rejects(store.open(2), wrongKey);
    assert.equal(await hasIndex(first), false);
    await using again = await store.open(1);
    assert.equal(await bootstrap(again), undefined);
    assert.equal(await hasIndex(again), true);
  });
});

describe("the password that the configuration gives the first administrator", () => {
  for (const [what, password, reason] of [
    ["a common one", "password1", "PASSWORD_GUESSABLE"],
    ["one made of the names of the administrator", "administrator-1", "PASSWORD_GUESSABLE"],
  ] as const)
    it(`is held to the rules of the instance: ${what} is refused, and nothing is written`, async () => {
      using store = await emptyStore();
      await using kernel = await store.open(1, { IDSVC_BOOTSTRAP_ADMIN_PASSWORD: password });
      await assert.rejects(bootstrap(kernel), (error: unknown) => {
        assert.ok(error instanceof DomainError, String(error));
        assert.deepEqual([error.kind, error.reason], ["invalidArgument", "PASSWORD_POLICY"]);
        assert.deepEqual(
          error.violations.map((each) => each.reason),
          [reason],
        );
        assert.match(error.message, /^IDSVC_BOOTSTRAP_ADMIN_PASSWORD: /);
        assert.ok(!error.message.includes(password));
        return true;
      });
      assert.equal((await kernel.db.heads()).size, 0);
      assert.ok(!existsSync(join(store.dataDir, "bootstrap.json")));
      await using better = await store.open(1);
      assert.ok(await bootstrap(better));
    });
  it("is no matter where there is an instance already", async () => {
    using store = await emptyStore();
    await using first = await store.open(1);
    assert.ok(await bootstrap(first));
    await using again = await store.open(1, { IDSVC_BOOTSTRAP_ADMIN_PASSWORD: "password1" });
    assert.equal(await bootstrap(again), undefined);
  });
});

describe("a data folder that cannot be written when the instance is made (decision 0319)", () => {
  const elsewhere = async (kernel: Kernel) =>
    bootstrap({ ...kernel, config: { ...kernel.config, dataDir: "/proc/none" } });

  it("ends the first start, and nothing is made: nobody could know the secrets", async () => {
    using store = await emptyStore();
    await using kernel = await store.open(1);
    await assert.rejects(elsewhere(kernel), (error: unknown) => {
      assert.ok(error instanceof DomainError, String(error));
      const { kind, reason } = error;
      assert.deepEqual([kind, reason], ["failedPrecondition", "BOOTSTRAP_FILE_UNWRITABLE"]);
      assert.match(error.message, /IDSVC_BOOTSTRAP_ADMIN_PASSWORD and IDSVC_BOOTSTRAP_TOKEN/);
      return true;
    });
    assert.equal((await kernel.db.heads()).size, 0);
    assert.ok(await bootstrap(kernel));
  });
  it("does not matter where both secrets were given", async () => {
    using store = await emptyStore();
    await using kernel = await store.open(1, {
      IDSVC_BOOTSTRAP_ADMIN_PASSWORD: "Password-of-mine-1",
      IDSVC_BOOTSTRAP_TOKEN: "token-of-mine",
    });
    assert.equal((await elsewhere(kernel))?.machine.token, "token-of-mine");
    assert.equal((await kernel.db.heads()).size, 1);
  });
});

describe("a data folder that cannot be made (F04)", () => {
  it("is refused, and named", async () => {
    using store = await emptyStore();
    const file = join(store.dataDir, "file");
    writeFileSync(file, "");
    const env = { IDSVC_DATA_DIR: join(file, "below") };
    const config = loadConfig({ files: [], flags: {}, env });
    await assert.rejects(openKernel(config, { logger: silentLogger() }), (error: unknown) => {
      assert.ok(error instanceof DomainError, String(error));
      assert.deepEqual([error.kind, error.reason], ["failedPrecondition", "DATA_DIR_UNUSABLE"]);
      assert.match(error.message, /file\/below cannot be made/);
      return true;
    });
  });
});
