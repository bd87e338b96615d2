import type { Unit } from "./database.ts";
import type { AnyTable } from "./table.ts";

// Reads of tables that span instances ask under the empty id.
const everyInstance = "";

/**
 * Counts commits by instance and table, so that a cached read knows whether it is still true (decisions B7).
 * Changes whose extent is unknown (another process, another replica) count for everything.
 */
export function createStamps() {
  const byInstance = new Map<string, Map<string, number>>();
  let everywhere = 0;
  return {
    touch(unit: Unit): void {
      for (const scope of [unit.instanceId, everyInstance]) {
        let tables = byInstance.get(scope);
        if (tables === undefined) byInstance.set(scope, (tables = new Map()));
        for (const { table } of unit.changes) {
          tables.set(table.name, (tables.get(table.name) ?? 0) + 1);
        }
      }
    },
    touchAll(): void {
      everywhere += 1;
    },
    read(instanceId: string, tables: readonly AnyTable[]): number {
      const counts = byInstance.get(instanceId);
      let sum = everywhere;
      if (counts !== undefined) for (const { name } of tables) sum += counts.get(name) ?? 0;
      return sum;
    },
  };
}
