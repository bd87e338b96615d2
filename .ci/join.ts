// `node .ci/join.ts DIR`: joins the JavaScript of an installed service (`install`) into few files, in place.
//
// A start reads, compiles and links each file by itself: some 1,300 of them take a third of it (decision 0372).
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { build, type Plugin } from "esbuild";
import { writeJson } from "./pack.ts";

/**
 * Packages that each start loads, and those that they need. Others stay files of their own: they are loaded late, by name or with
 * native code.
 */
const joined = ["@bufbuild", "@connectrpc", "commander", "express", "jose", "pino", "prom-client"];
const command = "cli/run.js";
/** How a file names one that a thread or process of its own begins with. */
const ownEntry = /new URL\(`(\.{1,2}\/[\w./-]+)\$\{extname\(import\.meta\.url\)\}`/g;

const target = resolve(process.argv[2] ?? "");
const sources = join(target, "src");
const gen = join(target, "gen");
const scripts = filesIn(sources).filter((path) => path.endsWith(".js"));
const entries = [command, ...scripts.flatMap(entriesNamedBy)];
const aside = join(target, "joined");

function entriesNamedBy(path: string): string[] {
  const text = readFileSync(join(sources, path), "utf8");
  return [...text.matchAll(ownEntry)].map(([, name = ""]) => join(dirname(path), `${name}.js`));
}

/** What a file finds beside itself it finds from where the joined files are: in the folder of the sources. */
const addresses: Plugin = {
  name: "addresses",
  setup({ onLoad }) {
    onLoad({ filter: /\.js$/ }, ({ path }) => {
      const file = relative(sources, path);
      if (file.startsWith("..") || entries.includes(file)) return undefined;
      const contents = readFileSync(path, "utf8")
        .replaceAll("import.meta.url", `new URL("./${file}", import.meta.url).href`)
        .replaceAll("import.meta.dirname", `(import.meta.dirname + "/${dirname(file)}")`);
      return { contents };
    });
  },
};

const others: Plugin = {
  name: "others",
  setup({ onResolve }) {
    // The file that begins all, which is not joined, imports it too.
    onResolve({ filter: /\/hardened\.js$/ }, ({ path }) => ({ path, external: true }));
    onResolve({ filter: /^[^./#]/ }, ({ path, importer }) => {
      const isOfJoined = relative(target, importer).startsWith("node_modules/");
      const isJoined = joined.some((name) => path === name || path.startsWith(`${name}/`));
      return isOfJoined || isJoined ? undefined : { path, external: true };
    });
  },
};

const { metafile } = await build({
  entryPoints: entries.map((path) => join(sources, path)),
  outdir: aside,
  outbase: sources,
  absWorkingDir: target,
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node24",
  chunkNames: "[name].[hash]",
  // Packages of the older form load modules of Node.
  banner: {
    js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
  },
  plugins: [addresses, others],
  metafile: true,
  logLevel: "error",
});
const isOwn = (path: string) => /^(?:src|gen)\//.test(path);
for (const path of Object.keys(metafile.inputs).filter(isOwn)) rmSync(join(target, path));
for (const path of filesIn(aside)) renameSync(join(aside, path), join(sources, path));
for (const path of entries.filter((entry) => entry !== command)) hardenFirst(path);
rmSync(aside, { recursive: true });
// The client is a package of its own.
rmSync(join(sources, "client"), { recursive: true });
for (const path of filesIn(sources).filter((each) => each.endsWith(".js"))) requireImports(path);
for (const path of filesIn(gen)) if (path.endsWith(".js")) rmSync(join(gen, path));
for (const folder of [sources, gen]) removeEmpty(folder);
const manifest = join(target, "package.json");
const { exports: _, imports: _gen, ...rest } = JSON.parse(readFileSync(manifest, "utf8"));
writeJson(manifest, rest);

/** @throws where a file that was not joined needs one that was */
function requireImports(path: string): void {
  const text = readFileSync(join(sources, path), "utf8");
  for (const [, named = ""] of text.matchAll(/^(?:import|\}).*"(\.{1,2}\/[^"]+)";$/gm))
    if (!existsSync(join(sources, dirname(path), named)))
      throw new Error(`src/${path} imports ${named}, which was joined: is it an entry?`);
}

/** The joined parts of an entry come before all else that it imports. */
function hardenFirst(path: string): void {
  const file = join(sources, path);
  const hardened = relative(dirname(path), "hardened.js");
  writeFileSync(file, `import ${JSON.stringify(hardened)};\n${readFileSync(file, "utf8")}`);
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted();
}

function removeEmpty(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) removeEmpty(join(folder, entry.name));
  if (readdirSync(folder).length === 0) rmdirSync(folder);
}
