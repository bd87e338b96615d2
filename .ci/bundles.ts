import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const root = resolve(import.meta.dirname, "..");
// To load the service takes longer than most specs do: those of a folder share a process.
const together =
  /^test\/(?:api|app|authority|crypto|egress|executor|federation|login|management|notify|oidc|resources|settings)\//;
// They stop things, fill things, watch the process, or keep it for long.
const alone = /browser|login\/pages|event-texts|flood|growth|kill|limits|matrix|replicas|transport/;
const mostTogether = 8;
// What takes longest begins first, so that no single spec is left for the end while a core has nothing to do.
const longest =
  /^test\/(?:api\/matrix|cli\/|client\/packed|executor\/(?:deliveries|events)|faults\/erasure|fuzz|jobs\/postgres|login\/(?:browser|pages)|readme|resources\/idpintent|storage\/postgres|eventstore\/postgres)/;

/**
 * What the test runner starts as a process each: specs, and files that load several in turn. The runner begins them in the
 * order of their paths.
 */
export function bundled(specs: readonly string[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), "idsvc-specs-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const single = (spec: string): string => {
    const place = longest.test(spec) ? "1" : "3";
    const name = spec.split("/").slice(1, -1).join("-");
    const path = join(folder, `${place}-${name}-${basename(spec)}`);
    symlinkSync(join(root, spec), path);
    return path;
  };
  const shared = specs.filter((spec) => together.test(spec) && !alone.test(spec) && !hooks(spec));
  const byFolder = Map.groupBy(shared, (spec) => spec.split("/")[1] ?? "");
  const bundles = [...byFolder].flatMap(([name, all]) => {
    const count = Math.ceil(all.length / mostTogether);
    return Array.from({ length: count }, (_, at) => {
      const path = join(folder, `2-${name}-${at + 1}.spec.mjs`);
      // Neighbours are alike, also in what they take: dealt out, no bundle takes much longer than another.
      const urls = all
        .filter((__, place) => place % count === at)
        .map((spec) => pathToFileURL(join(root, spec)).href);
      writeFileSync(path, loader(urls));
      return path;
    });
  });
  return [...bundles, ...specs.filter((spec) => !shared.includes(spec)).map(single)];
}

/** Whether it has hooks around each test of the process. */
const hooks = (spec: string): boolean =>
  /^(?:before|after)Each\(/m.test(readFileSync(join(root, spec), "utf8"));

/**
 * A file that loads specs in turn. No test begins before the last is loaded: a hook that a module sets after it has awaited
 * something would belong to the test that happens to run.
 */
function loader(urls: readonly string[]): string {
  return `
import { it } from "node:test";
const { promise, resolve } = Promise.withResolvers();
it("loads ${urls.length} specs", () => promise);
for (const spec of ${JSON.stringify(urls)}) await import(spec);
resolve();
`;
}
