// Run: alone, long
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { packClient } from "../../.ci/pack-client.ts";
import { startTestApp, type TestApp } from "../support/app.ts";

const root = resolve(import.meta.dirname, "../..");
const mostBytes = 15_000;
const work = mkdtempSync(join(tmpdir(), "idsvc-client-"));
after(() => rmSync(work, { recursive: true, force: true }));
const project = join(work, "project");
const installed = join(project, "node_modules/idsvc-client");
const tarball = packClient(join(work, "dist"));

before(() => {
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module", private: true }));
  const quiet = ["--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--silent"];
  execFileSync("npm", ["install", ...quiet, tarball], { cwd: project });
});

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => !name.endsWith("/"));

describe("the package of the client", () => {
  it("has the same bytes whenever it is built", () => {
    const again = packClient(join(work, "again"));
    assert.ok(readFileSync(again).equals(readFileSync(tarball)));
  });

  it("brings JavaScript alone: no native module, no source, nothing of the server", () => {
    const all = filesIn(join(project, "node_modules"));
    assert.deepEqual(
      all.filter((name) => /\.node$|binding\.gyp$/.test(name)),
      [],
    );
    const packages = readdirSync(join(project, "node_modules")).filter((name) => name[0] !== ".");
    assert.deepEqual(packages, ["@bufbuild", "@connectrpc", "idsvc-client"]);
    const sources = filesIn(installed).filter((name) => /(?<!\.d)\.ts$/.test(name));
    assert.deepEqual(sources, []);
  });

  it(`adds ${mostBytes} bytes at most to a page for each service, compressed`, async () => {
    const text = readFileSync(join(installed, "gen/client_services.js"), "utf8");
    const names = [...text.matchAll(/: (\w+Service),/g)].map(([, name = ""]) => name);
    assert.ok(names.length > 20);
    const shared = await bundled([]);
    assert.ok(shared < 40_000, `what all share has ${shared} bytes`);
    const sizes = await Promise.all(
      names.map(async (name) => [name, (await bundled([name])) - shared] as const),
    );
    assert.deepEqual(
      sizes.filter(([, bytes]) => bytes > mostBytes),
      [],
    );
  });

  /** The bytes of a page that calls these services. */
  async function bundled(services: readonly string[]): Promise<number> {
    const contents = `import { ${["createServiceClient", ...services].join(", ")} } from "idsvc-client";
      globalThis.used = [createServiceClient, ${services.join(", ")}];`;
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: project },
      bundle: true,
      minify: true,
      write: false,
      format: "esm",
      platform: "browser",
      target: "es2022",
    });
    return gzipSync(outputFiles?.[0]?.contents ?? "", { level: 9 }).length;
  }
});

describe("the examples of its page", () => {
  const page = readFileSync(join(root, "sdk/typescript/README.md"), "utf8");
  const examples = [...page.matchAll(/```ts\n(.*?)```/gs)].map(([, text = ""]) => text);
  let service: TestApp;
  before(async () => {
    service = await startTestApp();
    for (const [at, example] of examples.entries())
      writeFileSync(
        join(project, `example${at}.ts`),
        example.replaceAll("http://localhost:8080", service.url),
      );
    const types = ["--types", "node", "--typeRoots", join(root, "node_modules/@types")];
    const strict = ["--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes"];
    const target = ["--module", "nodenext", "--target", "es2022", "--lib", "es2023,dom"];
    const files = examples.map((_, at) => `example${at}.ts`);
    execFileSync(
      join(root, "node_modules/.bin/tsc"),
      ["--ignoreConfig", ...strict, ...target, ...types, ...files],
      { cwd: project, stdio: "inherit" },
    );
  });
  after(() => service[Symbol.asyncDispose]());

  const nodes = new Map([[process.version, process.execPath], ...olderNode()]);
  for (const [version, node] of nodes)
    it(`work under Node ${version}`, async () => {
      const env = { ...process.env, IDSVC_TOKEN: service.token };
      const printed = [];
      for (const at of examples.keys())
        printed.push(
          (await promisify(execFile)(node, [`example${at}.js`], { cwd: project, env })).stdout,
        );
      assert.match(printed[0] ?? "", /^admin@idsvc\.localhost$/m);
      assert.match(printed[0] ?? "", /^PROJECT_NOT_FOUND$/m);
      assert.match(printed[1] ?? "", /^signed in \d+ times$/m);
    });

  it("are tried under an older Node too", { skip: nodes.size < 2 && "there is none here" }, () => {
    assert.ok(nodes.size > 1);
  });
});

/** A Node from 20 on that is not the one of this run. */
function olderNode(): [string, string][] {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  for (const folder of folders)
    try {
      const path = join(folder, "node");
      const version = execFileSync(path, ["--version"], { encoding: "utf8" }).trim();
      if (/^v2[0-3]\./.test(version)) return [[version, path]];
    } catch {
      // No Node in this folder.
    }
  return [];
}
