import { rmSync } from "node:fs";
import { check } from "./checker.ts";
import {
  countInto,
  type Fault,
  newOutcome,
  nextAcknowledged,
  type Outcome,
  pause,
} from "./fault.ts";
import { afterPowerCut, copyStore, keepingFlushed } from "./flushed-files.ts";
import { type Place, startServer } from "./server.ts";
import { type Store, token } from "./store.ts";
import { createWriters, type Writers } from "./writers.ts";

const writerCount = 8;
const imagesACut = 10;

/**
 * What a power cut leaves: all that was flushed until then, and of what was written since any sectors. Everything that was
 * acknowledged is there, and a start serves it.
 */
export const unflushedLost: Fault = {
  id: "F02",
  title:
    "writes that were not flushed are lost, wholly or in sectors: all that was acknowledged is there",
  engines: ["sqlite"],
  rounds: { usual: 30, full: 2_000 },
  async run(arena, rounds) {
    const outcome = newOutcome();
    while (outcome.rounds < rounds) {
      await using store = await arena.newStore();
      // The first stop brings the schema into the file, and flushes it.
      await (await startServer(store.place)).stop();
      const flushed = copyStore(store.place.dataDir);
      try {
        const writers = await killedAmongWrites(store, flushed);
        await lookAtImages(store.place, flushed, { writers, outcome, rounds });
        countInto(outcome, writers);
      } finally {
        rmSync(flushed, { recursive: true });
      }
    }
    return outcome;
  },
};

async function killedAmongWrites({ place }: Store, flushed: string): Promise<Writers> {
  const { imports, env } = keepingFlushed(flushed);
  const writers = createWriters(writerCount, token);
  await using server = await startServer({
    ...place,
    imports: [...(place.imports ?? []), ...imports],
    env: { ...place.env, ...env },
  });
  await using running = writers.run(server.url);
  await nextAcknowledged(writers, 10_000);
  await pause(300, 1_200);
  await server.kill();
  await running.stop();
  return writers;
}

async function lookAtImages(
  place: Place,
  flushed: string,
  { writers, outcome, rounds }: { writers: Writers; outcome: Outcome; rounds: number },
): Promise<void> {
  const last = Math.min(rounds, outcome.rounds + imagesACut);
  for (let nth = 0; outcome.rounds < last; nth++, outcome.rounds++) {
    // At first all of it is lost.
    const lostPart = nth === 0 ? 1 : Math.random();
    const image = afterPowerCut(place.dataDir, flushed, lostPart);
    try {
      outcome.struck += 1;
      const found = await check({ dataDir: image }, writers.log);
      outcome.lost.push(...found.map((each) => `image ${outcome.rounds}: ${each}`));
      if (nth === 0 && found.length === 0) await serves({ ...place, dataDir: image }, outcome);
    } finally {
      rmSync(image, { recursive: true });
    }
  }
}

async function serves(place: Place, outcome: Outcome): Promise<void> {
  const code = await (await startServer(place)).stop();
  if (code !== 0) outcome.unexplained.push(`the store that was left: a stop ended with ${code}`);
}
