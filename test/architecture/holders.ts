import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isIn, root, rows, sliceOf, sources } from "./table.ts";

/** A file that names something of a slice from outside it, and what it names. */
export type Holder = { file: string; names: string };

// Edges that are taken out the same way.
const edges = ["account", "console-server", "login", "oidc"];

/** Folders of src that go with another: what they serve is in the schema of that one. */
const parts: Readonly<Record<string, string>> = { executor: "resources/action" };

/**
 * Files of a schema that stay when their slice goes, as messages of others are made of them: to move a message to another package would
 * break clients. `SearchUserEvents` of users answers with events.
 */
export const staying: readonly string[] = ["resources/event/v3alpha/event"];

/** Slices, and the edges beside `api`: each a folder of src with its parts, and of proto and test where it has any. */
export const folders: readonly string[] = [
  ...new Set(sources.flatMap(({ path }) => sliceOf(path) ?? [])),
  ...edges,
]
  .filter((slice) => parts[slice] === undefined)
  .toSorted();

/**
 * What composes slices. The lines that name one there go with it, and the compiler tells which: what the service is made of (`app/`),
 * what the console shows of which kind of object, and where (`console/declared`, `console/routes.ts`, decision 0355), and what is brought
 * and taken of which kind by imports and exports, which have every kind of object (`management/import`, `management/export`, `data.proto`).
 */
const composition = [
  "src/app",
  "src/console/declared",
  "src/console/routes.ts",
  "src/management/import",
  "src/management/export",
  "proto/idsvc/management/v1/data.proto",
];

type Import = { from: string; to: string; names: string };

const statement = /^(?:import|export) ([^;"]*?)from "([^"]+)";|\bimport\("([^"]+)"\)/gm;

/** All imports of src and of the schema, by paths in the repository. */
const imports: readonly Import[] = [
  ...sources.flatMap(({ path, text }) =>
    [...text.matchAll(statement)].map(([, names = "everything", from, call]): Import => {
      const to = targetOf(`src/${path}`, from ?? call ?? "");
      return { from: `src/${path}`, to, names: names.replaceAll(/\s+/g, " ").trim() };
    }),
  ),
  ...schemas().flatMap(({ path, text }) =>
    [...text.matchAll(/^import (?:public )?"(idsvc\/[^"]+)"/gm)].map(
      ([, to = ""]): Import => ({ from: path, to: `proto/${to}`, names: "messages" }),
    ),
  ),
];

/** Who would not do without the slice: whoever imports it or its schema, but for its own files and the composition. */
export function holdersOf(slice: string): Holder[] {
  return imports
    .filter(({ from, to }) => isOf(slice, to) && !isOf(slice, from) && !isComposition(from))
    .map(({ from, names }) => ({ file: from, names }));
}

/** Which files of the schema a file of the schema names, and which name it. */
export const beside = (path: string): { named: string[]; namedBy: string[] } => ({
  named: imports.flatMap(({ from, to }) => (from === path ? [to] : [])),
  namedBy: imports.flatMap(({ from, to }) => (to === path ? [from] : [])),
});

/** The files of src that import something of the slice from outside it. */
export const importersOf = (slice: string): string[] => [
  ...new Set(
    imports
      .filter(({ from, to }) => isOf(slice, to) && !isOf(slice, from) && isIn(from, "src"))
      .map(({ from }) => from),
  ),
];

/** A file as it is once the statements are gone that import something of the slice; its lines keep their numbers. */
export const withoutImports = (slice: string, path: string, text: string): string =>
  text.replaceAll(statement, (whole: string, _: string, from: string | undefined) =>
    from !== undefined && isOf(slice, targetOf(path, from))
      ? whole.replaceAll(/[^\n]/g, "")
      : whole,
  );

/** Whether a file goes with the slice: one of its folders, or of what is generated of its schema. */
export const isOf = (slice: string, path: string): boolean =>
  !isStaying(path) &&
  ["src", "proto/idsvc", "gen/idsvc", "test"].some((top) =>
    foldersOf(slice).some(
      (each) => isIn(path, `${top}/${each}`) && !isOfRowBelow(each, path.slice(top.length + 1)),
    ),
  );

const isStaying = (path: string): boolean =>
  staying.some(
    (file) => path === `proto/idsvc/${file}.proto` || path === `gen/idsvc/${file}_pb.ts`,
  );

const foldersOf = (slice: string): string[] => [
  slice,
  ...Object.keys(parts).filter((part) => parts[part] === slice),
];

export const isComposition = (path: string): boolean =>
  composition.some((folder) => isIn(path, folder));

// `oidc/core` stands on its own.
const isOfRowBelow = (slice: string, path: string): boolean =>
  Object.keys(rows).some((row) => row !== slice && isIn(row, slice) && isIn(path, row));

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
