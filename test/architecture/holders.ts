import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isIn, root, rows, sliceOf, sources } from "./table.ts";

/** A file that names something of a slice from outside it, and what it names. */
export type Holder = { file: string; names: string };

// Edges of the list of modules that are no slices to `sliceOf`.
const edges = ["account", "console-server", "login", "oidc"];

/** Slices, and the edges that go the same way: each a folder of src, of proto and of test. */
export const folders: readonly string[] = [
  ...new Set(sources.flatMap(({ path }) => sliceOf(path) ?? [])),
  ...edges,
].toSorted();

/**
 * What composes slices, where the lines of each stand: they go with it, and the compiler names them. What the service is made of
 * (`app/`), and what pages of the console show of which kind of object (`console/declared`, decision 0355).
 */
export const composition: readonly string[] = ["app", "console/declared"];

type Import = { from: string; to: string; names: string };

/** All imports of src, of generated code too, by paths in the repository. */
const imports: readonly Import[] = [
  ...sources.flatMap(({ path, text }) =>
    [...text.matchAll(/^(?:import|export) ([^;"]*?)from "([^"]+)"|\bimport\("([^"]+)"\)/gm)].map(
      ([, names = "everything", from, call]): Import => ({
        from: `src/${path}`,
        to: targetOf(`src/${path}`, from ?? call ?? ""),
        names: names.replaceAll(/\s+/g, " ").trim(),
      }),
    ),
  ),
  ...schemas().flatMap(({ path, text }) =>
    [...text.matchAll(/^import (?:public )?"(idsvc\/[^"]+)"/gm)].map(
      ([, to = ""]): Import => ({ from: path, to: `proto/${to}`, names: "messages" }),
    ),
  ),
];

/** Who would not do without the slice: whoever imports it or its schema, but for its own files and the lists of the composition. */
export function holdersOf(slice: string): Holder[] {
  return imports
    .filter(({ from, to }) => isOf(slice, to) && !isOf(slice, from) && !isComposition(from))
    .map(({ from, names }) => ({ file: from, names }));
}

/** The files of a slice: those of its folders, and what is generated of its schema. */
export const isOf = (slice: string, path: string): boolean =>
  ["src", "proto/idsvc", "gen/idsvc", "test"].some(
    (top) => isIn(path, `${top}/${slice}`) && isDeepest(slice, path.slice(top.length + 1)),
  );

const isComposition = (path: string): boolean =>
  composition.some((folder) => isIn(path, `src/${folder}`));

// `oidc` is no folder of `oidc/core`, which is a row of its own.
const isDeepest = (slice: string, path: string): boolean =>
  !Object.keys(rows).some((row) => row !== slice && isIn(row, slice) && isIn(path, row));

function targetOf(from: string, specifier: string): string {
  return specifier.startsWith("#gen/")
    ? `gen/${specifier.slice(5)}`
    : join(dirname(from), specifier);
}

function schemas(): { path: string; text: string }[] {
  return readdirSync(join(root, "proto/idsvc"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".proto"))
    .map((name) => `proto/idsvc/${name}`)
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}
