import { performance } from "node:perf_hooks";

/** How often a piece of work runs a second, round by round. */
export type Rates = Record<string, number[]>;

const wallMs = () => performance.now();

/** Processor time of this process: what others take from the core does not count. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Runs pieces of work in rotating order; each call does `count` of them. The first round is dropped. */
export async function microRounds(
  works: Record<string, { count: number; run: () => unknown }>,
  { rounds, ms }: { rounds: number; ms: number },
  clock: () => number = wallMs,
): Promise<Rates> {
  const names = Object.keys(works);
  const rates: Rates = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (let at = 0; at < names.length; at++) {
      const name = names[(at + round) % names.length] ?? "";
      const work = works[name];
      if (work === undefined) continue;
      const started = clock();
      let done = 0;
      let spent = 0;
      while (spent < ms) {
        const outcome = work.run();
        if (outcome instanceof Promise) await outcome;
        done += work.count;
        spent = clock() - started;
      }
      if (round > 0) rates[name]?.push((done / spent) * 1000);
    }
  }
  return rates;
}

/** What a child of the harness was asked for. */
export const microTiming = (): { rounds: number; ms: number } => ({
  rounds: Number(process.argv[2] ?? 2),
  ms: Number(process.argv[3] ?? 200),
});

export const printRates = (rates: Rates): void => void process.stdout.write(JSON.stringify(rates));
