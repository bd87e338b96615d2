/** What the store has done since it was opened, and what is under way, for metrics. */
export type StoreActivity = {
  /** Batches of units, each of which is one transaction with one flush. */
  batches: { count: number; seconds: number; spans: readonly number[] };
  /** Units that were committed. */
  units: number;
  /** Reads that may take long and wait for their turn. */
  waitingReads: number;
  /** The size of the write-ahead log, in bytes, where this process keeps it. */
  logBytes?: number;
  /** Connections to a server, by what they are for. */
  connections: readonly { role: string; open: number; idle: number; waiting: number }[];
};

/** The upper ends of the spans in which batches are counted by what they take, in seconds. */
export const batchBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5] as const;

/** Counts batches by what they take. */
export function createBatchMeter() {
  const spans = batchBounds.map(() => 0);
  const batches = { count: 0, seconds: 0, spans };
  let units = 0;
  return {
    /** Some units were committed together. */
    note(committed: number, ms: number): void {
      const seconds = ms / 1_000;
      const at = batchBounds.findIndex((bound) => seconds <= bound);
      if (at !== -1) spans[at] = (spans[at] ?? 0) + 1;
      batches.count += 1;
      batches.seconds += seconds;
      units += committed;
    },
    read: () => ({ batches, units }),
  };
}
