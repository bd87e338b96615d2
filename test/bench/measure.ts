import { join } from "node:path";
import { runLoad } from "./load/load.ts";
import type { LoadResult, LoadSpec, LogInSpec } from "./load/spec.ts";
import { ofDiskOrCore } from "./judge.ts";
import { cpuSeconds, loadCore, runPinned } from "./process.ts";

/** One server under one kind of request. */
export type BenchCase = {
  name: string;
  pid: number;
  /** What is sent; made anew for each load where answers use something up. */
  load: LoadSpec | LogInSpec | ((seconds: number) => LoadSpec | Promise<LoadSpec>);
  /** How long a load may last, where what it uses up is made beforehand. */
  mostSeconds?: number;
  /** Makes one call and throws unless the answer is right. */
  verify: () => Promise<void>;
  /** Checks after a load that so many requests had their effect. */
  confirm?: (requests: number) => Promise<void>;
  /** Where its store is, if it waits for the disk: raw commits beside it are timed in the same seconds. */
  disk?: string;
};

export type Sample = LoadResult & {
  rate: number;
  cpuRate: number;
  core: number;
  /** The part that is reached of the rate that the disk or the core allows, where it waits for the disk (`ofDiskOrCore`). */
  ofDiskOrCore?: number;
};
/** What a case gave, round by round: requests a second, and a second of the server's processor time. */
export type Measured = { samples: Sample[]; rates: number[]; cpuRates: number[]; problem: string };
export type Timing = { rounds: number; seconds: number; warmSeconds: number };

export const quickTiming: Timing = { rounds: 2, seconds: 1, warmSeconds: 1 };
export const fullTiming: Timing = { rounds: 5, seconds: 3, warmSeconds: 3 };

/**
 * Drives all cases in each round, in rotating order; the first round warms up and is dropped. A case that answers wrong
 * is not driven on.
 */
export async function measure(
  cases: readonly BenchCase[],
  timing: Timing,
  onProgress: (text: string) => void = () => {},
): Promise<Map<string, Measured>> {
  const all = new Map<string, Measured>(
    cases.map(({ name }) => [name, { samples: [], rates: [], cpuRates: [], problem: "" }]),
  );
  for (const each of cases) await attempt(all, each, () => each.verify());
  for (let round = 0; round <= timing.rounds; round++) {
    for (let at = 0; at < cases.length; at++) {
      const each = cases[(at + round * 5) % cases.length];
      const measured = each && all.get(each.name);
      if (each === undefined || measured === undefined || measured.problem !== "") continue;
      onProgress(`round ${round}/${timing.rounds} ${each.name}`);
      await attempt(all, each, async () => {
        const seconds = round === 0 ? timing.warmSeconds : timing.seconds;
        const sample = await sampleOf(each, seconds);
        if (round === 0) return;
        measured.samples.push(sample);
        measured.rates.push(sample.rate);
        measured.cpuRates.push(sample.cpuRate);
      });
    }
  }
  return all;
}

async function attempt(
  all: Map<string, Measured>,
  { name }: BenchCase,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    const measured = all.get(name);
    if (measured) measured.problem = error instanceof Error ? error.message : String(error);
  }
}

/** One load of one case, its answers checked. */
export async function sampleOf(each: BenchCase, seconds: number): Promise<Sample> {
  const lasting = Math.min(seconds, each.mostSeconds ?? seconds);
  const spec = typeof each.load === "function" ? await each.load(lasting) : each.load;
  const before = cpuSeconds(each.pid);
  const [result, commitMs] = await Promise.all([
    runLoad(spec, lasting),
    each.disk === undefined ? undefined : rawCommitMs(each.disk, lasting),
  ]);
  const used = cpuSeconds(each.pid) - before;
  if (result.problem !== "") throw new Error(result.problem);
  await each.confirm?.(result.requests);
  await each.verify();
  const [rate, cpuRate] = [result.requests / result.seconds, result.requests / used];
  const open = spec.connections * spec.streams;
  return {
    ...result,
    rate,
    cpuRate,
    core: (used / result.seconds) * 100,
    ...(commitMs === undefined
      ? {}
      : { ofDiskOrCore: ofDiskOrCore({ rate, cpuRate, open, commitMs }) }),
  };
}

const rawCommits = join(import.meta.dirname, "raw-commit.ts");

/** How long a raw commit takes on the disk of a folder in these seconds: the median, in milliseconds. */
const rawCommitMs = async (dir: string, seconds: number): Promise<number> =>
  Number(await runPinned(loadCore, [process.execPath, rawCommits, dir, String(seconds)]));
