// Run: shared
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { sliceOf, sources } from "./table.ts";

/** Slices without a module of their own, each before the first that uses it. */
const withoutModule: Readonly<Record<string, string>> = {
  notify: "management",
};

/** Slices as app/modules.ts lists them, those that others stand on first: a slice runs nothing of one that comes after it. */
const order = orderOfModules();

/** Which files of src run which others when they are loaded: imports that name more than types. */
const runs = sources.flatMap(({ path, text }) =>
  [...text.matchAll(/^(?:import|export) (?!type\b)([^;"]*?)from "(\.[^"]+)";/gm)]
    .filter(([, names = ""]) => isValue(names))
    .map(([, , to = ""]): [from: string, to: string] => [path, join(dirname(path), to)]),
);

describe("the order of slices", () => {
  it("names every slice", () => {
    const found = new Set(
      sources.map(({ path }) => sliceOf(path)).filter((one) => one !== undefined),
    );
    assert.deepEqual([...found].toSorted(), order.toSorted());
  });

  it("holds: a slice runs only what comes before it", () => {
    const above = runs.flatMap(([from, to]) => {
      const [mine, other] = [sliceOf(from), sliceOf(to)];
      if (mine === undefined || other === undefined || mine === other) return [];
      return order.indexOf(other) < order.indexOf(mine) ? [] : [`${from} runs ${to}`];
    });
    assert.deepEqual(above, []);
  });
});

describe("a file of src", () => {
  it("runs nothing in a circle", () => {
    const next = Map.groupBy(runs, ([from]) => from);
    const done = new Set<string>();
    const circles: string[] = [];
    const walk = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(" -> "));
      if (done.has(file) || path.includes(file)) return;
      for (const [, to] of next.get(file) ?? []) walk(to, [...path, file]);
      done.add(file);
    };
    for (const file of next.keys()) walk(file, []);
    assert.deepEqual(circles, []);
  });
});

/** Whether what stands between `import` and `from` names more than types. */
function isValue(names: string): boolean {
  const [, list] = /^\{([^}]*)\} $/s.exec(names) ?? [];
  if (list === undefined) return true;
  return list.split(",").some((name) => name.trim() !== "" && !name.trim().startsWith("type "));
}

function orderOfModules(): string[] {
  const { text } = sources.find(({ path }) => path === "app/modules.ts") ?? { text: "" };
  const list = text.slice(text.indexOf("export const modules"));
  const slices = [...text.matchAll(/^import \{([^}]*)\} from "([^"]+)";$/gms)]
    .flatMap(([, names = "", from = ""]) =>
      names
        .split(",")
        .map((name) => name.trim())
        .filter((name) => name !== "")
        .map((name) => list.search(new RegExp(`^  ${name}\\b`, "m")))
        .map((at) => ({ at, slice: sliceOf(join("app", from)) })),
    )
    .filter(({ at }) => at >= 0)
    .toSorted((a, b) => a.at - b.at)
    .flatMap(({ slice }) => (slice === undefined ? [] : [slice]));
  assert.ok(slices.length > 20, "the list is read");
  for (const [slice, before] of Object.entries(withoutModule)) {
    assert.ok(!slices.includes(slice) && slices.includes(before), slice);
    slices.splice(slices.indexOf(before), 0, slice);
  }
  return slices;
}
