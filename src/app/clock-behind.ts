import type { Concern } from "../projection/module.ts";
import { desc } from "../storage/drizzle.ts";
import { sequences } from "../storage/kernel-tables.ts";
import { setClock } from "./clock.ts";
import type { Kernel } from "./kernel.ts";

/** Clocks of replicas may differ by so much. */
const toleranceMs = 60_000;

/**
 * By how many minutes the clock is behind the newest change of the store. That is no reason to refuse a start: the clock that was ahead
 * may be the one that is right now.
 */
export async function clockConcern({ db, now }: Pick<Kernel, "db" | "now">): Promise<Concern> {
  const t = db.table(sequences);
  const byAge = db.read.select({ at: t.changedAt }).from(t).orderBy(desc(t.changedAt));
  const [newest] = await byAge.limit(1);
  const behindMs = newest === undefined ? 0 : newest.at.getTime() - now().getTime();
  return {
    name: "clock_behind",
    text: `minutes that the clock is behind the newest change of the store: ${setClock}, else what expires lasts longer than it may`,
    count: behindMs > toleranceMs ? Math.floor(behindMs / 60_000) : 0,
    some: newest === undefined ? [] : [newest.at.toISOString()],
  };
}
