import { join } from "node:path";
import type { Measured } from "./measure.ts";
import type { Rates } from "./micro.ts";
import { runPinned, serverCore } from "./process.ts";
import type { RowPlan, Wanted } from "./rows.ts";

const places: { file: string; rows: RowPlan[] }[] = [
  {
    file: "micro-validate.ts",
    rows: ["validate-get", "validate-create"].map((id) => ({
      id,
      service: id,
      peers: { protovalidate: `protovalidate ${id}` },
      floor: `by hand ${id}`,
    })),
  },
  {
    file: "micro-transact.ts",
    rows: ["transact-1", "transact-32"].map((id) => ({
      id,
      service: id,
      peers: { raw: `raw ${id}` },
      floor: `raw ${id}`,
    })),
  },
  {
    file: "micro-screen.ts",
    rows: [
      {
        id: "screened-password",
        service: "screened-password",
        peers: { raw: "raw screened-password" },
        floor: "raw screened-password",
      },
    ],
  },
];

/** Rows without a network: each place runs alone on the server core and interleaves its own rounds. */
export async function microBench(
  wanted: Wanted,
  { rounds, ms }: { rounds: number; ms: number },
): Promise<{ rows: RowPlan[]; measured: Map<string, Measured> }> {
  const measured = new Map<string, Measured>();
  const all: RowPlan[] = [];
  for (const { file, rows } of places) {
    const asked = rows.filter(({ id }) => wanted(id));
    if (asked.length === 0) continue;
    const script = join(import.meta.dirname, file);
    const command = [process.execPath, script, String(rounds), String(ms)];
    const rates = JSON.parse(await runPinned(serverCore, command)) as Rates;
    for (const [name, each] of Object.entries(rates)) {
      measured.set(name, { samples: [], rates: each, cpuRates: each, problem: "" });
    }
    all.push(...asked);
  }
  return { rows: all, measured };
}
