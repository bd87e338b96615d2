// Run: alone, early
import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { bufIn } from "../../.ci/generate.ts";
import { pack } from "../../.ci/pack.ts";
import { tellingWays } from "../architecture/ways.ts";
import { logIn, signedIn } from "../deploy/log-in.ts";

const root = resolve(import.meta.dirname, "../..");
const work = mkdtempSync(join(tmpdir(), "idsvc-packed-"));
const project = join(work, "project");
const data = join(project, "data");
// The Node of this run for npm and npx too; no setting of the developer's own service.
const env = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("IDSVC_"))),
  PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter),
};
const run = (command: string, args: string[], more: NodeJS.ProcessEnv = {}): string =>
  execFileSync(command, args, { cwd: project, env: { ...env, ...more }, encoding: "utf8" });

const tarball = pack(join(work, "dist"));

before(() => {
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module", private: true }));
  run("npm", [
    "install",
    "--ignore-scripts",
    "--prefer-offline",
    "--no-audit",
    "--no-fund",
    "--silent",
    tarball,
  ]);
  // All that follows is tried without what is optional.
  for (const name of optional()) rmSync(join(project, "node_modules", name), { recursive: true });
});
after(() => rmSync(work, { recursive: true, force: true }));

function optional(): string[] {
  const manifest = readFileSync(join(project, "node_modules/idsvc/package.json"), "utf8");
  return Object.keys(JSON.parse(manifest).optionalDependencies);
}

describe("the package", () => {
  it("needs the SDK of OpenTelemetry only where traces are asked for (Q6)", () => {
    assert.deepEqual(optional(), [
      "@opentelemetry/core",
      "@opentelemetry/otlp-exporter-base",
      "@opentelemetry/otlp-transformer",
      "@opentelemetry/resources",
      "@opentelemetry/sdk-trace",
    ]);
    const asked = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318", IDSVC_DATA_DIR: data };
    const { status, stderr } = spawnSync("npx", ["--no-install", "idsvc", "serve"], {
      cwd: project,
      env: { ...env, ...asked },
      encoding: "utf8",
    });
    assert.equal(status, 1);
    assert.match(
      stderr,
      /^idsvc: traces are asked for .* @opentelemetry\/\S+ is not installed: .+\n$/,
    );
  });

  it("holds what runs, its documents, and no TypeScript source", () => {
    const files = execFileSync("tar", ["-tzf", tarball], { encoding: "utf8" }).trim().split("\n");
    const present = [
      "LICENSE",
      "README.md",
      "docs/use.md",
      "docs/pictures/log-in.png",
      "bin/idsvc.js",
      "gen/comments.json",
      "src/client/index.js",
      "proto/idsvc/resources/user/v3alpha/user_service.proto",
      "third_party/google/api/annotations.proto",
      "third_party/buf/validate/validate.proto",
    ];
    assert.deepEqual(
      present.filter((file) => !files.includes(`package/${file}`)),
      [],
    );
    assert.deepEqual(
      files.filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts")),
      [],
    );
  });

  it("holds the schema whole, so that clients of any language can be made of it", () => {
    const installed = join(project, "node_modules/idsvc");
    bufIn(installed, ["build"], "pipe");
    assert.ok(!existsSync(join(installed, "proto/baseline")));
  });

  it("types a small consumer under the strictest options, without the types of Node", () => {
    const source = `
      import { Code, ConnectError, create, createClient, errorReason, TargetSchema, type GetTarget } from "idsvc/client";
      const client = createClient({ baseUrl: "https://id.example.com", token: async () => "pat" });
      export async function nameOf(id: string): Promise<string | undefined> {
        try {
          const found: GetTarget | undefined = (await client.action.getTarget({ id })).target;
          return found?.target?.name;
        } catch (error) {
          if (error instanceof ConnectError && error.code === Code.NotFound) return errorReason(error);
          throw error;
        }
      }
      export const target = create(TargetSchema, { name: "audit" });
      // @ts-expect-error a method the service has not
      client.action.noSuchMethod({});
    `;
    compile(source, []);
  });
});

describe("the server of the package", () => {
  let server: ChildProcess;
  let service: NodeJS.ProcessEnv = {};
  let output = "";
  /** How long it takes from the command to a call with the token that the first start has made. */
  let callableMs = Number.POSITIVE_INFINITY;

  before(async () => {
    service = { IDSVC_PORT: String(await freePort()), IDSVC_DATA_DIR: data };
    server = spawn("npx", ["--no-install", "idsvc", "serve"], {
      cwd: project,
      env: { ...env, ...service },
      // npx puts a shell between; a group of its own lets one signal reach all of them.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [server.stdout, server.stderr]) {
      stream?.on("data", (part: Buffer) => {
        output += part.toString();
      });
    }
    const begun = performance.now();
    await started();
    const { issuer, machine } = JSON.parse(readFileSync(join(data, "bootstrap.json"), "utf8"));
    const answer = await fetch(`${issuer}/resources/v3alpha/users/_search`, {
      method: "POST",
      headers: { authorization: `Bearer ${machine.token}` },
    });
    assert.equal(answer.status, 200);
    callableMs = performance.now() - begun;
  });
  after(async () => {
    if (server.exitCode !== null || server.pid === undefined) return;
    const gone = once(server, "exit");
    process.kill(-server.pid, "SIGTERM");
    await gone;
  });

  it("runs the TypeScript example of docs/use.md", () => {
    compile(pageExample(), ["node"]);
    const told = run("node", ["consumer.js"]);
    assert.match(told, /^client \d+$/m);
    assert.match(told, /^\[ \[ 'buyer' \] \]$/m);
    assert.match(told, /^user\.human\.added$/m);
    assert.match(told, /^PROJECT_NOT_FOUND$/m);
  });

  it("gives a token within a minute of its start, and is logged in to through its pages", () => {
    assert.ok(callableMs < 60_000, `after ${callableMs} ms`);
    const { issuer, admin } = JSON.parse(readFileSync(join(data, "bootstrap.json"), "utf8"));
    const told = run("bash", [
      "-euc",
      `${logIn}\nlog_in "$@"`,
      "bash",
      issuer,
      admin.login_name,
      admin.password,
    ]);
    assert.match(told, signedIn);
  });

  it("is ready by its own word", () => {
    run("npx", ["--no-install", "idsvc", "ready"], service);
  });

  it("runs with code generation and prototype access shut", () => {
    const idsvc = ["node_modules/idsvc/bin/idsvc.js", "--help"];
    const told = run("node", idsvc, { NODE_OPTIONS: `--import=${tellingWays}` });
    assert.match(told, /^ways: $/m);
  });

  it("has two arenas of memory at most, unless its environment says how many (decision 0396)", () => {
    const telling = join(work, "arenas.mjs");
    writeFileSync(telling, "console.log('arenas', process.env.MALLOC_ARENA_MAX);");
    const arenasWith = (more: NodeJS.ProcessEnv) => {
      const idsvc = ["node_modules/idsvc/bin/idsvc.js", "--help"];
      const told = run("node", idsvc, { NODE_OPTIONS: `--import=${telling}`, ...more });
      return [...told.matchAll(/^arenas (.*)$/gm)].map(([, arenas]) => arenas);
    };
    // The launcher, and what it becomes.
    assert.deepEqual(arenasWith({}), ["undefined", "2"]);
    assert.deepEqual(arenasWith({ MALLOC_ARENA_MAX: "8" }), ["8", "8"]);
  });

  async function started(): Promise<void> {
    const file = join(data, "bootstrap.json");
    for (let waited = 0; waited < 60_000; waited += 100) {
      assert.equal(server.exitCode, null, `the server ended:\n${output}`);
      if (existsSync(file)) {
        const { issuer } = JSON.parse(readFileSync(file, "utf8"));
        const answers = await fetch(issuer).then(
          () => true,
          () => false,
        );
        if (answers) return;
      }
      await delay(100);
    }
    throw new Error(`the server did not start within a minute:\n${output}`);
  }
});

/** Checks a TypeScript program against the declarations of the package and makes `consumer.js` of it. */
function compile(source: string, types: string[]): void {
  writeFileSync(join(project, "consumer.ts"), source);
  const compilerOptions = {
    target: "es2024",
    lib: ["es2024", "dom"],
    module: "nodenext",
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    types,
    typeRoots: [join(root, "node_modules/@types")],
  };
  writeFileSync(
    join(project, "tsconfig.json"),
    JSON.stringify({ compilerOptions, files: ["consumer.ts"] }),
  );
  try {
    run(join(root, "node_modules/.bin/tsc"), ["--project", "."]);
  } catch (error) {
    assert.fail(String((error as { stdout?: unknown }).stdout ?? error));
  }
}

/** The first block of TypeScript of docs/use.md that uses the client. */
function pageExample(): string {
  const page = readFileSync(join(root, "docs/use.md"), "utf8");
  const blocks = [...page.matchAll(/^```(?:ts|typescript)\n([^]*?)^```/gm)];
  const example = blocks.find(([, code]) => code?.includes('"idsvc/client"'))?.[1];
  assert.ok(example !== undefined, "docs/use.md has no TypeScript block that imports idsvc/client");
  return example;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}
