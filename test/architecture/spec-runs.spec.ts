// Run: alone
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { bundled } from "../../.ci/bundles.ts";
import { allSpecs, declared, engines, root, specsOf } from "../../.ci/specs.ts";

describe("how specs are run", () => {
  it("is said by each of them, and none is left out", () => {
    const all = allSpecs();
    assert.ok(all.length > 300);
    const [sqlite = [], postgres = []] = engines.map((engine) =>
      [false, true].map((isLong) => specsOf(engine, isLong, all).map(({ path }) => path)),
    );
    const paths = all.map(({ path }) => path);
    // On SQLite each runs once, and twice where it does things one of two ways; on PostgreSQL each that starts the service.
    const again = all.filter(({ says }) => says.has("turns")).map(({ path }) => path);
    assert.deepEqual(sqlite.flat().toSorted(), [...paths, ...again].toSorted());
    assert.equal(new Set(postgres.flat()).size, postgres.flat().length);
    for (const { path, says } of all) {
      if (says.has("store") && !says.has("long") && postgres.flat().includes(path))
        assert.ok(postgres[0]?.includes(path), path);
    }
    assert.ok((postgres[0]?.length ?? 0) > 100);
  });

  it("loads each once, in its own process or with others", () => {
    const all = allSpecs();
    const shared = all.filter(({ says }) => says.has("shared"));
    const processes = bundled(all);
    assert.ok(processes.length < all.length - shared.length + shared.length / 4);
    assert.ok(processes.length > all.length - shared.length);
  });

  it("begins with those that take longest", () => {
    const all = allSpecs();
    const early = all.filter(({ says }) => says.has("early")).map(({ path }) => join(root, path));
    const first = bundled(all).slice(0, early.length);
    assert.deepEqual(first.map((path) => realpathSync(path)).toSorted(), early);
  });

  it("is told of each test as the runner alone would tell it, with what is loaded before", () => {
    const folder = mkdtempSync(join(tmpdir(), "idsvc-spec-runs-"));
    try {
      const file = join(folder, "first.mjs");
      writeFileSync(file, nestedTests);
      writeFileSync(join(folder, "second.mjs"), loadedTests);
      const [alone, loaded] = [[], ["--import", join(root, ".ci/test-process.js")]].map((flags) => {
        const { NODE_TEST_CONTEXT: _, ...env } = process.env;
        const given = [...flags, "--test-reporter=tap", file];
        const { stdout } = spawnSync(process.execPath, given, { env, encoding: "utf8" });
        return stdout
          .split("\n")
          .filter((line) => /^ *(not ok|ok|# [a-z]+ \d+$)|error:/.test(line));
      });
      assert.deepEqual(loaded, alone);
      assert.ok(
        alone?.some((line) => line.includes("not ok 1 - fails by a timer")),
        alone?.join(),
      );
      assert.ok(alone?.includes("# fail 4"), alone?.join());
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("is a failure, by name, where one cannot be loaded; those it shares a process with are run", () => {
    const folder = mkdtempSync(join(tmpdir(), "idsvc-spec-runs-"));
    try {
      const specs = Object.entries({
        "broken.mjs": "await 0; throw new Error('the reason');",
        "sound.mjs": "import { it } from 'node:test'; it('is sound', () => {});",
      }).map(([name, text]) => {
        writeFileSync(join(folder, name), text);
        return { path: relative(root, join(folder, name)), says: new Set(["shared"] as const) };
      });
      // What belongs to a run tells it what happens in bytes of its own, and not in words.
      const { NODE_TEST_CONTEXT: _, ...env } = process.env;
      const [file = ""] = bundled(specs);
      const { stdout, status } = spawnSync(process.execPath, ["--test-reporter=spec", file], {
        env,
        encoding: "utf8",
        timeout: 60_000,
      });
      assert.equal(status, 1);
      assert.match(stdout, /✖ \S*broken\.mjs/);
      assert.match(stdout, /the reason/);
      assert.match(stdout, /✔ is sound/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("hashes passwords at little cost, and as the service does where a spec or a bundle says so", () => {
    const folder = mkdtempSync(join(tmpdir(), "idsvc-spec-runs-"));
    try {
      const file = join(folder, "hash.mjs");
      const source = pathToFileURL(join(root, "src/crypto/password-hash.ts")).href;
      // The hash is made by another thread.
      writeFileSync(
        file,
        `// Run: shared
import { hashPassword } from ${JSON.stringify(source)};
console.log((await hashPassword("secret", { keyId: "1", key: new Uint8Array(32) })).phc);
`,
      );
      const costOf = (path: string) => {
        const preloaded = ["--import", join(root, ".ci/test-process.js"), path];
        const { stdout } = spawnSync(process.execPath, preloaded, { encoding: "utf8" });
        return /\$argon2id\$v=19\$(\S+?)\$/.exec(stdout)?.[1] ?? stdout;
      };
      assert.equal(costOf(file), "m=8,t=1,p=1");
      const spec = { path: relative(root, file), says: new Set(["shared", "costly"] as const) };
      const [bundle = ""] = bundled([spec]);
      assert.equal(costOf(bundle), "m=19456,t=2,p=1");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("makes the keys of all processes once, and no two of one alike", () => {
    const folder = mkdtempSync(join(tmpdir(), "idsvc-spec-runs-"));
    try {
      const file = join(folder, "keys.mjs");
      const source = pathToFileURL(join(root, "src/crypto/signing-key.ts")).href;
      writeFileSync(
        file,
        `// Run: shared
import { newSigningKey } from ${JSON.stringify(source)};
const make = async () => (await newSigningKey({ type: "rsa", bits: 2048, hasher: "SHA256" })).publicKey.n;
console.log(await make(), await make());
`,
      );
      const preloaded = ["--import", join(root, ".ci/test-process.js"), file];
      const keysIn = (run: string) => {
        const env = { ...process.env, IDSVC_TEST_KEYS: mkdtempSync(join(folder, run)) };
        return [1, 2].map(() =>
          spawnSync(process.execPath, preloaded, { env, encoding: "utf8" })
            .stdout.trim()
            .split(" "),
        );
      };
      const [[one = [], same = []], [other = []]] = [keysIn("one-"), keysIn("other-")];
      assert.deepEqual(same, one);
      assert.equal(new Set([...one, ...other]).size, 4);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  const path = "test/some.spec.ts";
  for (const [what, text] of [
    ["nothing", "import x;\n"],
    ["it later", "\n// Run: alone\n"],
    ["an unknown word", "// Run: alone, stroe\n"],
    ["neither way", "// Run: store\n"],
    ["both ways", "// Run: shared, alone\n"],
    ["a word twice", "// Run: alone, long, long\n"],
    ["another word for it", "// Runs: alone\n"],
  ] as const) {
    it(`stops the run where a spec says ${what}`, () =>
      assert.throws(() => declared(text, path), /test\/some\.spec\.ts: .*first line/));
  }

  it("is read as it stands", () =>
    assert.deepEqual([...declared("// Run: alone, store\nx", path)], ["alone", "store"]));
});

/** Tests whose failures come from what they began, and that declare others. */
const nestedTests = `
import { AsyncResource } from "node:async_hooks";
import { before, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
describe("outer", () => {
  before(() => delay(1));
  it("fails by a timer", async () => {
    setTimeout(() => { throw new Error("late"); }, 5);
    await delay(50);
  });
  it("fails by a rejection", async () => {
    void Promise.reject(new Error("nobody"));
    await delay(50);
  });
  it("has others", async (t) => {
    await t.test("child", () => delay(1));
    await new AsyncResource("other").runInAsyncScope(() => delay(1).then(() => it("grandchild")));
  });
});
it("loads", async () => {
  await delay(1);
  await import("./second.mjs");
});
it("takes too long", { timeout: 30 }, () => delay(500));
`;

const loadedTests = `
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
await delay(1);
describe("inside", () => it("passes", () => delay(1)));
it("fails", () => { throw new Error("the reason"); });
`;
