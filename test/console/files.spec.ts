// Run: shared
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { type ConsoleFiles, consoleFiles } from "../../src/console-server/files.ts";

/** The scripts that a script cannot run without, itself included. */
function closureOf(name: string, byName: ConsoleFiles["byName"], known = new Set<string>()) {
  if (known.has(name)) return known;
  known.add(name);
  const text = String(byName.get(name)?.body);
  for (const [, next = ""] of text.matchAll(/(?:from|import)"\.\/([\w.-]+\.js)"/g)) {
    closureOf(next, byName, known);
  }
  return known;
}

const sizeOf = (names: Iterable<string>, { byName }: ConsoleFiles): number =>
  [...names].reduce((sum, name) => sum + gzipSync(byName.get(name)?.body ?? "").length, 0);

describe("the files of the console", () => {
  it("are at most 180 KB at first, and 60 KB more for any page", async () => {
    const files = await consoleFiles()();
    const { byName, script, style } = files;
    const first = closureOf(script, byName);
    const scripts = sizeOf(first, files);
    const all = scripts + sizeOf([style], files);
    assert.ok(all <= 180_000, `${all} bytes at first`);
    for (const name of byName.keys()) {
      if (!name.endsWith(".js") || first.has(name)) continue;
      const more = sizeOf(closureOf(name, byName).difference(first), files);
      assert.ok(more <= 60_000, `${more} bytes more for ${name}`);
    }
  });

  it("are at most 60 KB more for any page with what it is declared by", async () => {
    const files = await consoleFiles()();
    const { byName, script } = files;
    const first = closureOf(script, byName);
    const named = (pattern: RegExp) => [...byName.keys()].filter((name) => pattern.test(name));
    const declarations = readdirSync(join(import.meta.dirname, "../../src/console/declared"))
      .map((name) => name.replace(/\.ts$/, ""))
      .flatMap((name) => named(new RegExp(`^${name}\\.\\w+\\.js$`)));
    const pages = named(/^(?:list|object|settings)-page\.\w+\.js$/);
    assert.equal(pages.length, 3);
    assert.ok(declarations.length >= 8, declarations.join());
    for (const page of pages) {
      for (const declaration of declarations) {
        const whole = closureOf(page, byName).union(closureOf(declaration, byName));
        const more = sizeOf(whole.difference(first), files);
        assert.ok(more <= 60_000, `${more} bytes more for ${page} with ${declaration}`);
      }
    }
  });

  it("call no class as the style of the log-in does, which their pages have too", async () => {
    const { byName, style } = await consoleFiles()();
    const path = join(import.meta.dirname, "../../src/login/assets/login.css");
    const classesIn = (css: string) =>
      new Set([...css.matchAll(/\.([A-Za-z_][\w-]*)(?=[^{}]*\{)/g)].map(([, name]) => name));
    const own = classesIn(String(byName.get(style)?.body));
    assert.ok(own.size > 50);
    assert.deepEqual([...own.intersection(classesIn(readFileSync(path, "utf8")))], []);
  });

  it("are built by one at a time, and not again at once where that fails", async (test) => {
    test.mock.timers.enable({ apis: ["setTimeout"] });
    let builds = 0;
    const files = consoleFiles(async () => {
      builds += 1;
      throw new Error("no builder is here");
    });
    for (let page = 0; page < 3; page++) await assert.rejects(files(), /no builder/);
    assert.equal(builds, 1);
    test.mock.timers.tick(29_999);
    await assert.rejects(files());
    assert.equal(builds, 1);
    test.mock.timers.tick(1);
    await assert.rejects(files());
    assert.equal(builds, 2);
  });
});
