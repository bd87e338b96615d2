import { closeSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { connect } from "../storage/sqlite-place.ts";
import { check } from "./checker.ts";
import {
  countInto,
  type Fault,
  newOutcome,
  nextAcknowledged,
  type Outcome,
  pause,
} from "./fault.ts";
import { copyStore } from "./flushed-files.ts";
import { startServer } from "./server.ts";
import { type Arena, token } from "./store.ts";
import { framesOf, type Wal } from "./wal.ts";
import { createWriters } from "./writers.ts";

const imagesABase = 40;

/** What a power cut leaves: copies of the file with its WAL, of which the end is cut off, zeroed, flipped or half written. */
export const tornWal: Fault = {
  id: "F02",
  title:
    "images with a torn WAL or a torn checkpoint: a clean prefix, all of it where the WAL is whole",
  engines: ["sqlite"],
  rounds: { usual: 80, full: 20_000 },
  async run(arena, rounds) {
    const outcome = newOutcome();
    while (outcome.rounds < rounds) {
      await using base = await makeBase(arena, outcome);
      const kept: Kept[] = [];
      const last = Math.min(rounds, outcome.rounds + imagesABase);
      for (; outcome.rounds < last; outcome.rounds++) kept.push(await damageOne(base, outcome));
      // The first frame that is damaged ends the log: the later it comes, the more is there.
      kept.sort((a, b) => a.frames - b.frames || a.events - b.events);
      for (const [at, { frames, events }] of kept.entries()) {
        const before = kept[at - 1];
        if (before !== undefined && events < before.events)
          outcome.lost.push(
            `${frames} whole frames gave ${events} events, fewer gave ${before.events}`,
          );
      }
    }
    return outcome;
  },
};

type Base = AsyncDisposable & { folder: string; events: string[]; wal: Wal };
/** Of a damaged image: how many frames of the WAL are whole, and how many events it has. */
type Kept = { frames: number; events: number };

const eventsIn = (folder: string): string[] => {
  using connection = connect(join(folder, "idsvc.db"));
  const rows = connection
    .prepare("SELECT * FROM events ORDER BY instance_id, sequence")
    .raw()
    .all();
  return rows.map((row) => JSON.stringify(row));
};

/** A store whose server was killed among writes, with the WAL that it left. */
async function makeBase(arena: Arena, outcome: Outcome): Promise<Base> {
  await using store = await arena.newStore();
  const writers = createWriters(8, token);
  // The first stop brings the schema into the file, so that whatever befalls the WAL leaves a store.
  await (await startServer(store.place)).stop();
  await using server = await startServer(store.place);
  await using running = writers.run(server.url);
  await nextAcknowledged(writers, 10_000);
  await pause(300, 1_200);
  await server.kill();
  await running.stop();
  const folder = copyStore(store.place.dataDir);
  // The undamaged copy has all that was acknowledged; reading it folds its WAL into the file.
  const whole = copyStore(folder);
  const events = eventsIn(whole);
  outcome.lost.push(...(await check({ dataDir: whole }, writers.log)));
  rmSync(whole, { recursive: true });
  countInto(outcome, writers);
  return {
    folder,
    events,
    wal: framesOf(readFileSync(join(folder, "idsvc.db-wal"))),
    [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function damageOne(base: Base, outcome: Outcome): Promise<Kept> {
  const folder = copyStore(base.folder);
  try {
    const { what, frames } =
      Math.random() < 0.2 ? tearFile(folder, base.wal) : tearWal(folder, base.wal);
    outcome.struck += 1;
    const events = eventsIn(folder);
    const name = `image ${outcome.rounds} (${what})`;
    if (events.some((event, at) => event !== base.events[at]))
      outcome.lost.push(`${name}: not a prefix of the log`);
    if (frames >= base.wal.committed && events.length !== base.events.length)
      outcome.lost.push(`${name}: ${events.length} of ${base.events.length} events`);
    outcome.lost.push(...(await check({ dataDir: folder })).map((each) => `${name}: ${each}`));
    return { frames, events: events.length };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

type Damage = { what: string; frames: number };

/** Cuts, zeroes or flips the WAL from some byte on; mostly near its end, as a power cut would. */
function tearWal(folder: string, wal: Wal): Damage {
  const file = join(folder, "idsvc.db-wal");
  const bytes = readFileSync(file);
  const depth = Math.random() < 0.5 ? wal.frameBytes * 4 : bytes.length - wal.headerBytes;
  const at = Math.max(wal.headerBytes, bytes.length - 1 - Math.floor(Math.random() * depth));
  const way = (["cut", "zeroed", "flipped"] as const)[Math.floor(Math.random() * 3)] ?? "cut";
  const until = way === "flipped" ? at + 1 : bytes.length;
  if (way !== "cut")
    for (let each = at; each < until; each++)
      bytes[each] = way === "zeroed" ? 0 : (bytes[each] ?? 0) ^ 0x55;
  const descriptor = openSync(file, "w");
  writeSync(descriptor, bytes, 0, way === "cut" ? at : bytes.length);
  closeSync(descriptor);
  return { what: `${way} at ${at}`, frames: Math.floor((at - wal.headerBytes) / wal.frameBytes) };
}

/** Writes some pages of the WAL into the file, wholly or half, as a checkpoint that was broken off; the WAL stays. */
function tearFile(folder: string, wal: Wal): Damage {
  const descriptor = openSync(join(folder, "idsvc.db"), "r+");
  for (const [page, bytes] of wal.pages) {
    if (Math.random() < 0.5) continue;
    const length = Math.random() < 0.5 ? bytes.length : Math.floor(Math.random() * bytes.length);
    writeSync(descriptor, bytes, 0, length, (page - 1) * bytes.length);
  }
  closeSync(descriptor);
  return { what: "checkpoint broken off", frames: wal.committed };
}
