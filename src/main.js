import module from "node:module";
import { join } from "node:path";

// An older one lacks what this file calls, and would say no more than that.
const leastNode = 24;
if (Number.parseInt(process.versions.node, 10) < leastNode) {
  const is = `this is ${process.version} (${process.execPath})`;
  process.stderr.write(
    `idsvc needs Node ${leastNode} or later; ${is}. \`npm start\` takes the one of the packages\n`,
  );
  process.exit(1);
}

// The one file of JavaScript: Node would load its reader of TypeScript for it, for 70 ms and 17 MiB, and needs it for no
// other file of the start once those are kept.
//
// Compiled code is kept beside the packages: whoever may write there could change the sources as well, which is not so
// of the shared folder that Node would take. Where nothing can be written, nothing is kept.
module.enableCompileCache(join(import.meta.dirname, "../node_modules/.cache/idsvc"));

// Where an import of ours leads is said by the import: it names a file, there is no folder, link or kind of package to find
// out about. And a package is the same one whichever of our files asks for it. What Node does to find that out, for each of
// some thousand imports, is a fifth of the start.
const here = new URL(".", import.meta.url).href;
const gen = new URL("../gen/", import.meta.url).href;
const kinds = new Map([
  [".ts", "module-typescript"],
  [".js", "module"],
]);
const packages = new Map();
module.registerHooks({
  resolve(specifier, context, nextResolve) {
    const { parentURL = "", conditions } = context;
    const isFile = specifier.startsWith(".");
    if (isFile && specifier.endsWith(".cjs")) {
      return { url: new URL(specifier, parentURL).href, format: "commonjs", shortCircuit: true };
    }
    const isOurs = parentURL.startsWith(here) || parentURL.startsWith(gen);
    if (!isOurs || conditions.includes("require")) return nextResolve(specifier, context);
    if (isFile) {
      const format = kinds.get(specifier.slice(-3));
      if (format === undefined) return nextResolve(specifier, context);
      return { url: new URL(specifier, parentURL).href, format, shortCircuit: true };
    }
    // In a package that is installed these are JavaScript, by the map of its imports.
    if (specifier.startsWith("#gen/") && parentURL.endsWith(".ts")) {
      const url = gen + specifier.slice("#gen/".length);
      return { url, format: "module-typescript", shortCircuit: true };
    }
    let found = packages.get(specifier);
    if (found === undefined) {
      found = { ...nextResolve(specifier, context), shortCircuit: true };
      packages.set(specifier, found);
    }
    return found;
  },
});

const { run } = await import("./cli/run.ts");
process.exitCode = await run(process.argv.slice(2), process.env);
