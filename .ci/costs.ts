import { readFileSync } from "node:fs";

/** What a spec took on an engine, with all that it started, in milliseconds: of the processor, and on the wall (`cost.js`). */
export type Cost = { engine: string; spec: string; self: number; children: number; wall: number };

export const costsOf = (ledger: string): Cost[] =>
  readFileSync(ledger, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Cost)
    // Specs of specs are a part of what those cost.
    .filter(({ spec }) => spec.startsWith("test/"));

/** The seconds of each folder and engine, and the specs that take most, most first. */
export function tableOf(costs: readonly Cost[], most = 15): string[] {
  const folders = Map.groupBy(costs, ({ engine, spec }) => `${engine} ${spec.split("/")[1]}`);
  const rows = [...folders].map(([name, all]) => ({ name, ...sum(all), specs: all.length }));
  const single = costs.map((each) => ({ name: `${each.engine} ${each.spec}`, ...each, specs: 1 }));
  return [
    lineOf({ name: "all", ...sum(costs), specs: costs.length }),
    ...rows.toSorted(byProcessor).map(lineOf),
    ...single.toSorted(byProcessor).slice(0, most).map(lineOf),
  ];
}

type Sum = Pick<Cost, "self" | "children" | "wall">;

function sum(costs: readonly Cost[]): Sum {
  const total = { self: 0, children: 0, wall: 0 };
  for (const { self, children, wall } of costs) {
    total.self += self;
    total.children += children;
    total.wall += wall;
  }
  return total;
}

const byProcessor = (a: Sum, b: Sum): number => b.self + b.children - a.self - a.children;

function lineOf({
  name,
  self,
  children,
  wall,
  specs,
}: Sum & { name: string; specs: number }): string {
  const [own, started, passed] = [self, children, wall].map((ms) => (ms / 1_000).toFixed(1));
  return `${name}: processor ${own} s and ${started} s of what it started, wall ${passed} s, specs ${specs}`;
}
