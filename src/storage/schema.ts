import { createHash } from "node:crypto";
import { kernelTables } from "./kernel-tables.ts";
import type { AnyTable } from "./table.ts";

/** Everything the store holds: the kernel's tables, short-lived state, and projections, which can be rebuilt. */
export type Schema = { state: AnyTable[]; projections: AnyTable[] };

export type TableRole = "kernel" | "state" | "projection";

/** The store's format. A build refuses a store of a higher one (F07). */
export const storeFormat = 1;

export const allTables = (schema: Schema): { table: AnyTable; role: TableRole }[] => [
  ...kernelTables.map((table) => ({ table, role: "kernel" as const })),
  ...schema.state.map((table) => ({ table, role: "state" as const })),
  ...schema.projections.map((table) => ({ table, role: "projection" as const })),
];

/** Names the exact shape of a table: columns, key, indexes, counter. */
export function shapeOf(table: AnyTable): string {
  const columns = Object.entries(table.columns).map(([k, c]) => [k, c.kind, c.nullable]);
  const shape = JSON.stringify([columns, table.key, table.indexes, table.countedBy ?? null]);
  return createHash("sha256").update(shape).digest("hex").slice(0, 16);
}
