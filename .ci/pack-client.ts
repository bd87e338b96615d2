import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { bufIn, generateClient } from "./generate.ts";
import { inFolder, root, version } from "./installation.ts";
import { emit, writeJson } from "./pack.ts";

/** What the client runs with; all of it is JavaScript. */
const dependencies = ["@bufbuild/protobuf", "@connectrpc/connect", "@connectrpc/connect-web"];
const name = "idsvc-client";

/**
 * Builds the package of the client: `src/client` with a schema that has nothing of what only the service reads. Equal sources
 * give equal bytes.
 *
 * @param target folder to build in; what was in it is gone
 * @returns the tarball, inside the folder
 */
export function packClient(target: string = join(root, "dist/client")): string {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const imports = { "#gen/*.ts": { types: "./gen/*.d.ts", default: "./gen/*.js" } };
  inFolder((sources) => {
    const template = join(root, "sdk/typescript/buf.gen.yaml");
    bufIn(root, ["generate", "--template", template, "--output", sources], "pipe");
    generateClient(join(sources, "gen"));
    cpSync(join(root, "src/client"), join(sources, "src/client"), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(sources, "node_modules"));
    writeJson(join(sources, "package.json"), { type: "module", imports: { "#gen/*": "./gen/*" } });
    emit(sources, target);
  });
  const manifest: { dependencies: Record<string, string>; license: string } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  );
  const index = "./src/client/index";
  writeJson(join(target, "package.json"), {
    name,
    version,
    description: "Typed clients of idsvc for browsers and Node.",
    license: manifest.license,
    type: "module",
    sideEffects: false,
    engines: { node: ">=20" },
    exports: { ".": { types: `${index}.d.ts`, default: `${index}.js` } },
    imports,
    files: ["src", "gen"],
    dependencies: Object.fromEntries(
      dependencies.map((each) => [each, manifest.dependencies[each]]),
    ),
  });
  cpSync(join(root, "LICENSE"), join(target, "LICENSE"));
  cpSync(join(root, "sdk/typescript/README.md"), join(target, "README.md"));
  execFileSync("npm", ["pack", "--ignore-scripts", "--silent"], { cwd: target, stdio: "pipe" });
  return join(target, `${name}-${version}.tgz`);
}

if (import.meta.main) console.log(packClient());
