import module from "node:module";

// Where an import of ours leads is said by the import: it names a file, there is no folder, link or kind of package to find
// out about. And a package is the same one whichever of our files asks for it. Files of one folder of a package that end alike are
// of one kind. What Node does to find that out, for each of some thousand imports, is a quarter of the start.
const root = new URL("..", import.meta.url).href;
const gen = new URL("gen/", root).href;
const kinds = new Map([
  [".ts", "module-typescript"],
  [".js", "module"],
]);
const packages = new Map();
/** @type {Map<string, string | null | undefined>} */
const kindsInPackages = new Map();
module.registerHooks({
  resolve(specifier, context, nextResolve) {
    const { parentURL = "", conditions } = context;
    const isFile = specifier.startsWith(".");
    if (isFile && specifier.endsWith(".cjs")) {
      return { url: new URL(specifier, parentURL).href, format: "commonjs", shortCircuit: true };
    }
    if (conditions.includes("require")) return nextResolve(specifier, context);
    const isOurs =
      parentURL.startsWith(root) && !parentURL.startsWith("node_modules/", root.length);
    if (!isOurs) {
      const isInside = isFile && specifier.endsWith(".js") && parentURL.includes("/node_modules/");
      return isInside
        ? inPackage(specifier, context, nextResolve)
        : nextResolve(specifier, context);
    }
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

/**
 * Which kind `.js` is, the nearest package.json says: the same one for all files of a folder.
 *
 * @type {module.ResolveHookSync}
 */
function inPackage(specifier, context, nextResolve) {
  const url = new URL(specifier, context.parentURL).href;
  const folder = url.slice(0, url.lastIndexOf("/"));
  const format = kindsInPackages.get(folder);
  if (format !== undefined) return { url, format, shortCircuit: true };
  const found = nextResolve(specifier, context);
  // A link leads elsewhere.
  if (found.url === url) kindsInPackages.set(folder, found.format);
  return found;
}
