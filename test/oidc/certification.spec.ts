// Run: shared
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";

const read = (name: string) => readFileSync(join(import.meta.dirname, name), "utf8");
const rows = [
  ...read("CERTIFICATION.md").matchAll(
    /^\| `(oidcc-[\w-]+)` *\| ([A-Z ]+?) *\| `([\w.-]+)` *\| (.*?) *\|$/gm,
  ),
].map(([, module = "", plans = "", file = "", title = ""]) => ({
  module,
  file,
  title,
  plans: plans.split(" "),
}));

/** How many modules each plan has with static clients; those of Implicit count once for both response types. */
const sizes: Record<string, number> = { B: 35, I: 29, FB: 35, FI: 29, C: 1, L: 11 };

/** Which functions a plan's spec calls; modules stand in the one that has their title. */
const runs: Record<string, string> = {
  B: "conformance-basic.spec.ts",
  I: "conformance-implicit.spec.ts",
  FB: "conformance-form-post-basic.spec.ts",
  FI: "conformance-form-post-implicit.spec.ts",
};

describe("the table of the certification's modules", () => {
  it("names tests that there are", () => {
    assert.ok(rows.length > 45);
    for (const { module, file, title } of rows) {
      const source = read(file);
      const isThere =
        source.includes(`${module}: ${title}`) ||
        (source.includes(`: ${title}`) && endingOf(module, source));
      assert.ok(isThere, `${module} in ${file}`);
    }
  });

  it("puts each in the plans whose specs run it", () => {
    for (const { module, plans, file, title } of rows) {
      if (!file.endsWith("-modules.ts") || plans.includes("X")) continue;
      const group = groupOf(read(file), title);
      for (const [plan, spec] of Object.entries(runs)) {
        assert.equal(
          plans.includes(plan),
          read(spec).includes(`${group}(() =>`),
          `${module}: ${plan}`,
        );
      }
    }
  });

  it("has no module twice, and all of each plan", () => {
    assert.equal(new Set(rows.map(({ module }) => module)).size, rows.length);
    const counted = Object.fromEntries(
      Object.keys(sizes).map((plan) => [
        plan,
        rows.filter(({ plans }) => plans.includes(plan)).length,
      ]),
    );
    assert.deepEqual(counted, sizes);
  });
});

/** Whether a title that is made of parts can be of that module. */
const endingOf = (module: string, source: string): boolean =>
  source.includes(`"${module}"`) || source.includes(`oidcc-${module.split("-")[1]}-\${`);

/** The function that a test stands in. */
function groupOf(source: string, title: string): string {
  const before = source.slice(0, source.indexOf(title));
  return [...before.matchAll(/^export function (\w+)\(/gm)].at(-1)?.[1] ?? "";
}
