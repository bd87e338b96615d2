// Run: shared
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { places, root } from "../mutate/places.ts";

const read = (file: string) => readFileSync(join(root, file), "utf8");
const leastPlaces = 70;
// Of a title whose other parts are put in: fewer would fit any other title.
const leastLetters = 8;

/** The texts in a source, each as what a test of that title may be called: parts that are put in may be anything. */
function titlesIn(text: string): RegExp[] {
  const literals = text.matchAll(/(["`])((?:\\.|(?!\1).)+)\1/g);
  return [...literals]
    .map(([, , title = ""]) => title.replaceAll(/\\(.)/g, "$1").split(/\$\{[^}]*\}/))
    .filter((parts) => parts.join("").length >= leastLetters)
    .map((parts) => new RegExp(`^${parts.map((part) => RegExp.escape(part)).join(".*")}$`));
}

/** The titles of a spec, which may stand in a file beside it, as those of a contract do. */
const titles = new Map<string, RegExp[]>();
function titlesOf(spec: string): RegExp[] {
  const folder = dirname(spec);
  const known = titles.get(folder);
  if (known !== undefined) return known;
  const found = globSync("*.ts", { cwd: join(root, folder) });
  const all = found.flatMap((file) => titlesIn(read(join(folder, file))));
  titles.set(folder, all);
  return all;
}

describe("the faults of npm run mutate", () => {
  it("are at texts that their files have once, each with a test of that title", () => {
    for (const { file, find, replace, spec, test } of places) {
      assert.equal(read(file).split(find).length, 2, `${file}: ${find}`);
      assert.notEqual(find, replace, file);
      assert.ok(read(spec).startsWith("// Run: "), spec);
      assert.ok(
        titlesOf(spec).some((title) => title.test(test)),
        `${spec}: ${test}`,
      );
    }
  });

  it("are many, and all over the service", () => {
    assert.ok(places.length >= leastPlaces, `${places.length} places`);
    const folders = new Set(places.map(({ file }) => file.split("/").slice(0, 2).join("/")));
    for (const each of ["api", "authz", "crypto", "eventstore", "executor", "federation", "jobs"])
      assert.ok(folders.has(`src/${each}`), each);
    for (const each of ["login", "management", "oidc", "projection", "resources", "storage"])
      assert.ok(folders.has(`src/${each}`), each);
  });
});
