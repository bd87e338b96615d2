import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { root, type Spec } from "./specs.ts";

const mostTogether = 20;
// Each takes as long as twenty others, and which process ends last must not decide when the run ends.
const mostBrowsers = 5;

/**
 * What the test runner starts as a process each, in this order: specs that take longest, files that load several in turn, and
 * the other specs.
 */
export function bundled(specs: readonly Spec[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), "idsvc-specs-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const single = ({ path: spec, says }: Spec): string => {
    const place = says.has("early") ? 1 : 3;
    const name = spec.split("/").slice(1, -1).join("-");
    const path = join(folder, `${place}-${name}-${basename(spec)}`);
    symlinkSync(join(root, spec), path);
    return path;
  };
  const shared = specs.filter(({ says }) => says.has("shared"));
  const bundles = [...togetherBy(shared)].flatMap(([name, all]) => {
    const count = Math.ceil(all.length / (name === "browser" ? mostBrowsers : mostTogether));
    return Array.from({ length: count }, (_, at) => {
      const path = join(folder, `2-${name}-${at + 1}.spec.mjs`);
      // Neighbours are alike, also in what they take: dealt out, no bundle takes much longer than another.
      writeFileSync(path, loader(all.filter((__, place) => place % count === at)));
      return path;
    });
  });
  const alone = specs.filter(({ says }) => says.has("alone"));
  return [...alone.map(single), ...bundles].toSorted();
}

/** Specs of a folder, of all folders with few, those that need hashes of passwords as the service makes them, and those of browsers. */
function togetherBy(shared: readonly Spec[]): Map<string, Spec[]> {
  const folderOf = ({ path }: Spec): string => path.split("/")[1] ?? "";
  const sizes = Map.groupBy(shared, folderOf);
  return Map.groupBy(shared, (spec) => {
    if (spec.says.has("costly")) return "costly";
    if (spec.says.has("browser")) return "browser";
    const folder = folderOf(spec);
    return (sizes.get(folder)?.length ?? 0) < mostTogether ? "others" : folder;
  });
}

/**
 * A file that loads each spec when those before it are done: what a spec starts while it is loaded, it stops behind its last
 * test. What it declares, and hooks that it sets, belong to the test that loads it.
 */
function loader(specs: readonly Spec[]): string {
  const said = specs.some(({ says }) => says.has("costly")) ? "shared, costly" : "shared";
  const each = specs.map(({ path }) => [path, pathToFileURL(join(root, path)).href]);
  return `// Run: ${said}
import { it } from "node:test";
import { begin } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, "cost.js")).href)};
const load = (path, url) => {
  begin(path);
  return import(url);
};
for (const [path, url] of ${JSON.stringify(each)}) it(path, () => load(path, url));
`;
}
