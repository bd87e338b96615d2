import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { builtConsole } from "./console.ts";

type Component = { "bom-ref": string };
type Dependency = { ref: string };
type Sbom = { components: Component[]; dependencies: Dependency[] };

const root = resolve(import.meta.dirname, "..");

/** The packages that are shipped, as CycloneDX: those that the server loads, and those that are in the files of the console. */
export async function sbom(): Promise<Sbom> {
  const [loaded, all] = [listed("--omit", "dev"), listed()];
  const bundled = await inConsole();
  const missing = ({ ref }: Dependency) =>
    bundled.has(ref) && !loaded.components.some((each) => each["bom-ref"] === ref);
  return {
    ...loaded,
    components: [
      ...loaded.components,
      ...all.components.filter((each) => missing({ ref: each["bom-ref"] })),
    ],
    dependencies: [...loaded.dependencies, ...all.dependencies.filter(missing)],
  };
}

const listed = (...args: string[]): Sbom =>
  JSON.parse(
    execFileSync("npm", ["sbom", "--sbom-format", "cyclonedx", ...args], {
      cwd: root,
      encoding: "utf8",
      maxBuffer: 64 * 1024 * 1024,
    }),
  );

/** The packages that the licences beside the files of the console name, as `name@version`. */
async function inConsole(): Promise<Set<string>> {
  const text = readFileSync(join(await builtConsole(), "LICENSES.txt"), "utf8");
  const named = [...text.matchAll(/(?:^|\n-{80}\n\n)(\S+) (\S+)\n/g)];
  return new Set(named.map(([, name, version]) => `${name}@${version}`));
}

if (import.meta.main) process.stdout.write(`${JSON.stringify(await sbom(), null, 2)}\n`);
