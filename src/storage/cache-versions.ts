import type { Unit } from "./database.ts";
import type { RowChange } from "./row-change.ts";
import type { AnyTable } from "./table.ts";

// Reads of tables that span instances ask under the empty id.
const everyInstance = "";
const anyTable = "";

/** What a cached read depends on: a table, or its rows with one value of the column `cachedBy`. */
export type Dependency = AnyTable | { table: AnyTable; part: string };

/**
 * Counts commits by instance and table, so that a cached read knows whether it is still true (B7).
 * Changes whose extent is unknown (another process, another replica) count for everything.
 */
export function createCacheVersions() {
  const byInstance = new Map<string, Map<string, number>>();
  let everywhere = 0;

  const count = (instanceId: string, name: string): void => {
    let counts = byInstance.get(instanceId);
    if (counts === undefined) byInstance.set(instanceId, (counts = new Map()));
    counts.set(name, (counts.get(name) ?? 0) + 1);
  };

  return {
    touch(unit: Unit): void {
      for (const change of unit.changes) {
        const { name } = change.table;
        for (const scope of [unit.instanceId, everyInstance]) {
          count(scope, name);
          count(scope, partName(name, partOf(change)));
        }
      }
    },
    /** Counts what `partsOf` told of a commit elsewhere. */
    touchParts(instanceId: string, parts: readonly string[]): void {
      const tables = new Set(parts.map((part) => part.slice(0, part.indexOf("/"))));
      for (const scope of [instanceId, everyInstance]) {
        for (const name of [...tables, ...parts]) count(scope, name);
      }
    },
    /** Counts a commit of which only the instance is known. */
    touchInstance(instanceId: string): void {
      for (const scope of [instanceId, everyInstance]) count(scope, anyTable);
    },
    touchAll(): void {
      everywhere += 1;
    },
    read(instanceId: string, dependencies: readonly Dependency[]): number {
      const counts = byInstance.get(instanceId);
      let sum = everywhere;
      if (counts === undefined) return sum;
      sum += counts.get(anyTable) ?? 0;
      for (const name of namesOf(dependencies)) sum += counts.get(name) ?? 0;
      return sum;
    },
  };
}

// Lists of dependencies are made once, and asked about with each call.
const known = new WeakMap<readonly Dependency[], readonly string[]>();

/** The names under which everything is counted that these depend on. */
function namesOf(dependencies: readonly Dependency[]): readonly string[] {
  let names = known.get(dependencies);
  if (names === undefined) {
    names = dependencies.flatMap((each) =>
      "part" in each
        ? [partName(each.table.name, each.part), partName(each.table.name, unknownPart)]
        : [each.name],
    );
    known.set(dependencies, names);
  }
  return names;
}

const mostParts = 100;

/** What units change, for those who cannot see the units; undefined where that is too much to tell. */
export function partsOf(units: readonly Unit[]): string[] | undefined {
  const parts = new Set<string>();
  for (const { changes } of units) {
    for (const change of changes) {
      parts.add(partName(change.table.name, partOf(change)));
      if (parts.size > mostParts) return undefined;
    }
  }
  return [...parts];
}

const unknownPart = "";
const partName = (table: string, part: string): string => `${table}/${part}`;

function partOf(change: RowChange): string {
  const { cachedBy } = change.table;
  if (cachedBy === undefined) return unknownPart;
  // An update moves rows from what `where` says to what `values` say: only a fixed value is sure.
  const fixed = change.op === "insert" || change.op === "put" ? change.values : change.where;
  const part = fixed[cachedBy];
  const isMoved = change.op === "update" && cachedBy in change.values;
  return typeof part === "string" && !isMoved ? part : unknownPart;
}
