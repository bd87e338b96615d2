import { hash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import type { Metafile } from "esbuild";

const root = resolve(import.meta.dirname, "..");

/** What the server reads of a build: the files that a page loads first, and what it was made of. */
type Manifest = { script: string; style: string; sources: string };

/** What is loaded first. */
const start = "src/console/main.tsx";
const kept = join(root, "node_modules/.cache/idsvc/console");
const sourceRoots = [
  "src/console",
  "proto/idsvc",
  "package-lock.json",
  ".ci/console.ts",
  ".ci/console-bundle.ts",
  ".ci/console-schema.ts",
];

/**
 * The folder of the console's files, which are built where they are not there or their sources changed.
 *
 * @param target where they are to be; by default beside the packages
 */
export async function builtConsole(target: string = kept): Promise<string> {
  const sources = digestOfSources();
  const manifest = join(target, "manifest.json");
  const isFresh =
    existsSync(manifest) &&
    (JSON.parse(readFileSync(manifest, "utf8")) as Manifest).sources === sources;
  if (!isFresh) await buildTo(target, sources);
  return target;
}

/** Built aside, so that whoever reads meanwhile finds all files of one build. */
async function buildTo(target: string, sources: string): Promise<void> {
  const aside = `${target}.${process.pid}`;
  mkdirSync(aside, { recursive: true });
  try {
    // What bundles takes a second to load, and most who ask find what was bundled before.
    const { bundle } = await import("./console-bundle.ts");
    const metafile = await bundle(aside, start);
    const outputs = Object.entries(metafile.outputs).map(
      ([path, output]) => [relative(aside, join(root, path)), output] as const,
    );
    const entry = outputs.find(([, { entryPoint }]) => entryPoint === start);
    if (entry === undefined) throw new Error("the build has no entry");
    const [script, { cssBundle = "" }] = entry;
    const style = relative(aside, join(root, cssBundle));
    // What pages bring of styles is in the first file too.
    for (const [file] of outputs) {
      if (file.endsWith(".css") && file !== style) rmSync(join(aside, file));
    }
    writeFileSync(join(aside, "LICENSES.txt"), licencesOf(metafile));
    const manifest: Manifest = { script, style, sources };
    writeFileSync(join(aside, "manifest.json"), JSON.stringify(manifest));
    rmSync(target, { recursive: true, force: true });
    mkdirSync(dirname(target), { recursive: true });
    renameSync(aside, target);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

/** The licences of the packages that are in the files. */
function licencesOf({ inputs }: Metafile): string {
  const packages = new Set(
    Object.keys(inputs).flatMap(
      (path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/.exec(path)?.[1] ?? [],
    ),
  );
  return [...packages]
    .toSorted()
    .map((name) => {
      const folder = join(root, "node_modules", name);
      const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
      const text = file === undefined ? "" : readFileSync(join(folder, file), "utf8");
      return `${name} ${version}\n\n${text.trim()}\n`;
    })
    .join(`\n${"-".repeat(80)}\n\n`);
}

function digestOfSources(): string {
  const files = sourceRoots.flatMap((each) => {
    const path = join(root, each);
    if (!statSync(path).isDirectory()) return [path];
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  });
  const digests = files
    .toSorted()
    .map((path) => `${relative(root, path)} ${hash("sha256", readFileSync(path))}`);
  return hash("sha256", digests.join("\n"));
}

if (import.meta.main) console.log(await builtConsole(process.argv[2]));
