import module from "node:module";

// Where an import of ours leads is said by the import: it names a file, there is no folder, link or kind of package to find
// out about. And a package is the same one whichever of our files asks for it. What Node does to find that out, for each of
// some thousand imports, is a fifth of the start.
const root = new URL("..", import.meta.url).href;
const gen = new URL("gen/", root).href;
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
    const isOurs =
      parentURL.startsWith(root) && !parentURL.startsWith("node_modules/", root.length);
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
