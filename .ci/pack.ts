import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, extname, join, relative, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const start = join(root, "src/main.js");
const documents = [
  "README.md",
  "LICENSE",
  "docs/pictures",
  "docs/deploy",
  ...["use", "move-in", "operate", "observe", "runbooks"].map((page) => `docs/${page}.md`),
];

const launcher = "bin/idsvc.js";
const nodeMajor = 24;

type Manifest = Record<"name" | "version" | "description" | "license" | "type", string> & {
  scripts: { start: string };
  exports: Record<string, string>;
  dependencies: Record<string, string>;
};

/**
 * Builds the package that is published: JavaScript, because Node runs no TypeScript under `node_modules`,
 * and declarations of its client. Equal sources give equal bytes.
 *
 * @param target folder to build in; what was in it is gone
 * @returns the tarball, inside the folder
 */
export function pack(target: string = join(root, "dist")): string {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  emit(root, target);
  copyFiles(target);
  execFileSync(process.execPath, [join(root, ".ci/console.ts"), join(target, "console")]);
  const manifest: Manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  writeLauncher(join(target, launcher), manifest.scripts.start.match(/--\S+/g) ?? []);
  writeJson(join(target, "package.json"), published(manifest));
  execFileSync("npm", ["pack", "--ignore-scripts", "--silent"], { cwd: target, stdio: "pipe" });
  return join(target, `${manifest.name}-${manifest.version}.tgz`);
}

/**
 * Writes the JavaScript of all sources, and the declarations of what can be imported: the client, with all that it imports.
 *
 * Types are checked by `npm run types`. Here a check would only refuse the specifiers `#gen/...ts`, which the compiler
 * does not rewrite: the import map of the package leads them to the JavaScript.
 */
export function emit(sources: string, target: string): void {
  const shared = {
    noEmit: false,
    noCheck: true,
    rewriteRelativeImportExtensions: true,
    rootDir: sources,
    outDir: target,
    typeRoots: [join(root, "node_modules/@types")],
  };
  compile({
    compilerOptions: { ...shared, allowJs: true },
    include: [join(sources, "src"), join(sources, "gen")],
    // Scripts of pages stay as they are, and the console is bundled.
    exclude: [join(sources, "src/**/assets"), consoleIn(sources)],
  });
  compile({
    compilerOptions: { ...shared, declaration: true, emitDeclarationOnly: true },
    files: [join(sources, "src/client/index.ts")],
    include: [],
  });
}

function compile(config: object): void {
  const work = mkdtempSync(join(tmpdir(), "idsvc-pack-"));
  const project = join(work, "tsconfig.json");
  writeJson(project, { extends: join(root, "tsconfig.json"), ...config });
  try {
    execFileSync(join(root, "node_modules/.bin/tsc"), ["--project", project], { stdio: "inherit" });
  } finally {
    rmSync(work, { recursive: true });
  }
}

const consoleIn = (sources: string) => join(sources, "src/console");

/** The schema, with what it imports, for clients of other languages. */
const schema = ["proto", "third_party", "buf.yaml"];

function copyFiles(target: string): void {
  const isReleased = (path: string) => relative(root, path) === "proto/baseline";
  for (const name of schema) {
    const filter = (path: string) => !isReleased(path);
    cpSync(join(root, name), join(target, name), { recursive: true, filter });
  }
  for (const folder of ["src", "gen"]) {
    const isAsset = (path: string) =>
      extname(path) !== ".ts" && path !== start && path !== consoleIn(root);
    cpSync(join(root, folder), join(target, folder), { recursive: true, filter: isAsset });
  }
  for (const name of documents) cpSync(join(root, name), join(target, name), { recursive: true });
}

// glibc gives each thread that allocates an arena of its own, up to eight for each core, and what is freed in one stays there (decision
// 0396). It reads the variable as a process begins.
const mostArenas = 2;

// Flags and environment belong to the process, so the launcher replaces itself: no second process to forward signals to.
function writeLauncher(file: string, flags: readonly string[]): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(
    file,
    `#!/usr/bin/env node
import { fileURLToPath } from "node:url";

const node = process.execPath;
if (Number.parseInt(process.versions.node) < ${nodeMajor}) {
  console.error(\`idsvc needs Node ${nodeMajor} or later; this is \${process.version} (\${node})\`);
  process.exit(1);
}
const main = fileURLToPath(new URL("../src/main.js", import.meta.url));
const flags = ${JSON.stringify(flags)};
const env = { MALLOC_ARENA_MAX: "${mostArenas}", ...process.env };
process.execve(node, [node, ...process.execArgv, ...flags, main, ...process.argv.slice(2)], env);
`,
  );
  chmodSync(file, 0o755);
}

/**
 * Whether the service starts without a package (Q6). In the repository they are dependencies like others: npm leaves out optional
 * ones that are not of the Node that it runs with, and here that may be older than the one that the service runs with.
 */
const isOptional = (name: string): boolean =>
  name.startsWith("@opentelemetry/") && name !== "@opentelemetry/api";

function published(manifest: Manifest): object {
  const { name, version, description, license, type, dependencies, exports } = manifest;
  const hard = Object.entries(dependencies).filter(([of]) => !isOptional(of));
  const optional = Object.entries(dependencies).filter(([of]) => isOptional(of));
  const doors = Object.entries(exports).map(([door, file]) => [
    door,
    { types: file.replace(/\.ts$/, ".d.ts"), default: file.replace(/\.ts$/, ".js") },
  ]);
  return {
    name,
    version,
    description,
    license,
    type,
    engines: { node: `>=${nodeMajor}` },
    bin: { [name]: launcher },
    exports: { ...Object.fromEntries(doors), "./package.json": "./package.json" },
    imports: { "#gen/*.ts": { types: "./gen/*.d.ts", default: "./gen/*.js" } },
    files: ["bin", "src", "gen", "console", "docs", ...schema],
    dependencies: Object.fromEntries(hard),
    optionalDependencies: Object.fromEntries(optional),
  };
}

export function writeJson(file: string, value: unknown): void {
  writeFileSync(file, `${JSON.stringify(value, undefined, 2)}\n`);
}

if (import.meta.main) console.log(pack());
