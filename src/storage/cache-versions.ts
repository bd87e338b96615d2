import type { Unit } from "./database.ts";
import type { RowChange } from "./row-change.ts";
import type { AnyTable } from "./table.ts";

// Reads of tables that span instances ask under the empty id.
const everyInstance = "";

/** What a cached read depends on: a table, or its rows with one value of the column `cachedBy`. */
export type Dependency = AnyTable | { table: AnyTable; part: string };

// Of one table in one instance: all commits that touched it, and those by the part that they touched.
type Counts = { all: number; parts: Map<string, number> };
// `any` counts commits of which nothing else is known.
type InstanceCounts = { any: number; tables: Map<string, Counts> };

// Streams share counters, so that they take the same room however many there are: a power of two.
const streamCounters = 2 ** 14;

/**
 * Counts commits by instance and table, and by stream, so that a cached read knows whether it is still true (B7).
 * Changes whose extent is unknown (another process, another replica) count for everything.
 */
export function createCacheVersions() {
  const byInstance = new Map<string, InstanceCounts>();
  const streams = new Float64Array(streamCounters);
  let everywhere = 0;

  function ofInstance(instanceId: string) {
    let counts = byInstance.get(instanceId);
    if (counts === undefined) {
      byInstance.set(instanceId, (counts = { any: 0, tables: new Map() }));
    }
    return counts;
  }

  function count(instanceId: string, table: string, part: string): void {
    const { tables } = ofInstance(instanceId);
    let counts = tables.get(table);
    if (counts === undefined) tables.set(table, (counts = { all: 0, parts: new Map() }));
    counts.all += 1;
    counts.parts.set(part, (counts.parts.get(part) ?? 0) + 1);
  }

  function countStream(counter: number): void {
    streams[counter] = (streams[counter] ?? 0) + 1;
  }

  return {
    touch(unit: Unit): void {
      for (const change of unit.changes) {
        const part = partOf(change);
        count(unit.instanceId, change.table.name, part);
        count(everyInstance, change.table.name, part);
      }
      for (const { aggregateId } of unit.events) countStream(streamCounterOf(aggregateId));
    },
    /** Counts what `partsOf` told of a commit elsewhere. */
    touchParts(instanceId: string, parts: readonly string[]): void {
      for (const name of parts) {
        const end = name.indexOf("/");
        for (const scope of [instanceId, everyInstance]) {
          count(scope, name.slice(0, end), name.slice(end + 1));
        }
      }
    },
    /** Counts events that another process has written to streams of these counters. */
    touchStreams(counters: readonly number[]): void {
      counters.forEach(countStream);
    },
    /** Counts a commit of which only the instance is known. */
    touchInstance(instanceId: string): void {
      for (const scope of [instanceId, everyInstance]) ofInstance(scope).any += 1;
    },
    touchAll(): void {
      everywhere += 1;
    },
    read(instanceId: string, dependencies: readonly Dependency[]): number {
      const counts = byInstance.get(instanceId);
      if (counts === undefined) return everywhere;
      let sum = everywhere + counts.any;
      for (const each of dependencies) {
        if ("part" in each) {
          const parts = counts.tables.get(each.table.name)?.parts;
          sum += (parts?.get(each.part) ?? 0) + (parts?.get(unknownPart) ?? 0);
        } else sum += counts.tables.get(each.name)?.all ?? 0;
      }
      return sum;
    },
    /** Stands still while this process writes nothing to the stream; moves now and then although it does not. */
    readStream(aggregateId: string): number {
      return everywhere + (streams[streamCounterOf(aggregateId)] ?? 0);
    },
  };
}

/** The counter of a stream: FNV-1a over the UTF-16 units of its id, to the number of counters. */
export function streamCounterOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at++) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  return (hash ^ (hash >>> 15)) & (streamCounters - 1);
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
