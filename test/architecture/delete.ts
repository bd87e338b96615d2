// Takes slices out, one after the other, and has the compiler say what is left of each elsewhere: `npm run delete-test`, with
// `-- resources/domain settings/text` those. They are gone for the compiler only: nothing is written.
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { API } from "typescript/unstable/sync";
import { folders, holdersOf, importersOf, isComposition, isOf, withoutImports } from "./holders.ts";
import { root } from "./table.ts";

let slice = "";
let changed: ReadonlyMap<string, string> = new Map();
const isGone = (file: string): boolean => slice !== "" && isOf(slice, relative(root, file));

const api = new API({
  cwd: root,
  fs: {
    fileExists: (file) => (isGone(file) ? false : undefined),
    readFile: (file) => (isGone(file) ? null : changed.get(file)),
  },
});

const config = join(root, "tsconfig.json");
api.updateSnapshot({ openProjects: [config] });
const wanted = process.argv.slice(2);
let free = 0;
const all = wanted.length > 0 ? wanted : folders;
for (const each of all) {
  const before = [...changed.keys()];
  slice = each;
  const importers = importersOf(slice);
  changed = new Map(
    importers.map((path) => {
      const file = join(root, path);
      return [file, withoutImports(slice, path, readFileSync(file, "utf8"))];
    }),
  );
  const { program } = projectOf(
    api.updateSnapshot({ fileChanges: { changed: [...before, ...changed.keys()] } }),
  );
  const lines = importers.flatMap((path) => {
    const text = changed.get(join(root, path)) ?? "";
    const numbers = program
      .getSemanticDiagnostics(join(root, path))
      .map(({ pos }) => text.slice(0, pos).split("\n").length);
    return [...new Set(numbers)].toSorted((a, b) => a - b).map((line) => `${path}:${line}`);
  });
  const own = lines.filter((line) => isComposition(line));
  const held = [
    ...lines.filter((line) => !own.includes(line)),
    ...holdersOf(slice).flatMap(({ file }) => (importers.includes(file) ? [] : [file])),
  ];
  if (held.length === 0) free += 1;
  console.log(
    `${held.length === 0 ? "goes " : "stays"} ${slice}: ${own.length} lines of the composition, ${held.length} elsewhere`,
  );
  if (wanted.length > 0) console.log([...own, ...held].map((line) => `      ${line}`).join("\n"));
}
console.log(`${free} of ${all.length} go with their folders and the lines of the composition`);

api.close();

function projectOf(snapshot: ReturnType<typeof api.updateSnapshot>) {
  const project = snapshot.getProject(config);
  if (project === undefined) throw new Error(`${config} is no project`);
  return project;
}
