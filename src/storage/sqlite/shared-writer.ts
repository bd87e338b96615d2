import { rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import Sqlite from "better-sqlite3";
import { createApplier, type Outcome } from "./apply.ts";
import { createRing, type CommittedBatch } from "./commit-ring.ts";
import type { CompiledUnit } from "./compile.ts";
import { isBusy, isUnflushed } from "./errors.ts";
import { onFrame, sendFrame } from "./frames.ts";
import { configure } from "./open.ts";
import { takeServingLock } from "./serving-lock.ts";
import {
  type BatchMessage,
  decode,
  encodeCommitted,
  encodeFailure,
  encodeResults,
  type ToSharedWriter,
} from "./shared-messages.ts";

const emptyLogEveryMs = 3_600_000;
const longestWaitMs = 1;

/** A process that sends batches. `numbers`: of its statements among those of all. */
type Client = { socket: Socket; worker: string; numbers: number[] };
type Batch = { client: Client; message: BatchMessage };

export type SharedWriter = AsyncDisposable & {
  /** Whether any process is connected. */
  isUsed(): boolean;
};

/**
 * Commits what several processes send over a socket, all that has come together in one transaction. Only one process does so at
 * a time: it holds the lock of who serves the store.
 *
 * What became of the last batch of each process is kept in the transaction of the batch: one that is sent again, since its
 * answer was lost with the process that wrote before, is not committed twice.
 *
 * @param broken called when a flush has failed: this process must end
 * @throws FAILED_PRECONDITION STORE_SERVED
 */
export async function serveWriter(
  { path, socket: address }: { path: string; socket: string },
  broken: (error: unknown) => void,
): Promise<SharedWriter> {
  const lock = takeServingLock(path);
  const clients = new Set<Client>();
  const statements = numberedTexts();
  let opened: ReturnType<typeof openWriter> | undefined;
  // The first process that serves makes the file.
  const writer = () => (opened ??= openWriter(path, statements.texts));
  const gathered = gatherBatches(commitAll);

  function received(client: Client, message: ToSharedWriter): void {
    if (message.kind === "hello") client.worker = message.worker;
    else {
      for (const text of message.texts) client.numbers.push(statements.numberOf(text));
      for (const { steps } of message.units) {
        for (const step of steps) step.statement = client.numbers[step.statement] ?? 0;
      }
      gathered.add({ client, message });
    }
  }

  function commitAll(all: readonly Batch[]): void {
    try {
      for (const [{ client }, outcome] of writer().commit(all)) {
        sendFrame(client.socket, outcome.answer);
        if (outcome.kind === "unknown") giveUp(outcome.error);
      }
    } catch (error) {
      // A command beside the service has the lock as this connection is opened: they send it again.
      const failure = encodeFailure(isBusy(error) ? { kind: "busy" } : { kind: "failed", error });
      for (const { client } of all) sendFrame(client.socket, failure);
    }
  }

  let isBroken = false;
  function giveUp(error: unknown): void {
    if (isBroken) return;
    isBroken = true;
    for (const { socket } of clients) sendFrame(socket, encodeFailure({ kind: "unknown", error }));
    broken(error);
  }

  rmSync(address, { force: true });
  const server = createServer((socket) => {
    const client: Client = { socket, worker: "", numbers: [] };
    clients.add(client);
    onFrame(socket, (frame) => received(client, decode(frame)));
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      clients.delete(client);
      gathered.forget(client);
    });
  });
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(address, resolve);
  await listening;
  const sweep = setInterval(() => opened?.emptyLog(giveUp), emptyLogEveryMs).unref();

  return {
    isUsed: () => clients.size > 0,
    async [Symbol.asyncDispose]() {
      clearInterval(sweep);
      gathered.commitNow();
      for (const { socket } of clients) socket.end();
      server.close();
      if (!isBroken) {
        opened?.emptyLog(giveUp);
        opened?.connection.close();
      }
      lock[Symbol.dispose]();
    },
  };
}

/**
 * Has batches be committed together: all that have come while the last ones were committed. The processes of those are waited for, as
 * whoever was answered then is likely to send again, but a millisecond at most: whatever a commit costs beside its units is paid once.
 */
function gatherBatches(commit: (batches: readonly Batch[]) => void) {
  let batches: Batch[] = [];
  let timer: NodeJS.Timeout | undefined;
  let isDue = false;
  // Those of the last commit that have sent nothing since.
  const awaited = new Set<Client>();

  function commitNow(): void {
    clearTimeout(timer);
    timer = undefined;
    isDue = false;
    if (batches.length === 0) return;
    const all = batches;
    batches = [];
    awaited.clear();
    for (const { client } of all) if (!client.socket.destroyed) awaited.add(client);
    commit(all);
  }

  function look(): void {
    if (batches.length === 0 || isDue) return;
    if (awaited.size > 0) timer ??= setTimeout(commitNow, longestWaitMs);
    else {
      isDue = true;
      setImmediate(commitNow);
    }
  }

  return {
    commitNow,
    add(batch: Batch): void {
      batches.push(batch);
      awaited.delete(batch.client);
      look();
    },
    forget(client: Client): void {
      awaited.delete(client);
      look();
    },
  };
}

/** The texts of all statements, a number each, whichever process uses them. */
function numberedTexts() {
  const texts: string[] = [];
  const numbers = new Map<string, number>();
  return {
    texts,
    numberOf(text: string): number {
      let number = numbers.get(text);
      if (number === undefined) numbers.set(text, (number = texts.push(text) - 1));
      return number;
    },
  };
}

/** The one connection that writes. */
function openWriter(path: string, texts: readonly string[]) {
  const connection = new Sqlite(path, { fileMustExist: true });
  try {
    configure(connection);
    return writerOn(connection, texts);
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** A unit of a batch. `time`: when its events were made, or the latest of those before it in the batch. */
type BatchUnit = { batch: Batch; unit: CompiledUnit; time: number };

/**
 * The units of all batches in the order of their time, in which most of what they insert is appended to its table; those of each batch
 * keep their order.
 */
function inOrderOfTime(batches: readonly Batch[]): BatchUnit[] {
  const all = batches.flatMap((batch) => {
    let time = 0;
    return batch.message.units.map((unit): BatchUnit => {
      time = Math.max(time, unit.createdAt);
      return { batch, unit, time };
    });
  });
  return batches.length === 1 ? all : all.sort((a, b) => a.time - b.time);
}

/** @property answer what the process is told that sent the batch */
type Settled = { answer: string; kind: Outcome["kind"]; error?: unknown };

function writerOn(connection: Sqlite.Database, texts: readonly string[]) {
  const ring = createRing(connection);
  let committing: readonly Batch[] = [];
  let units: readonly BatchUnit[] = [];
  let entries: CommittedBatch[] = [];
  const applier = createApplier(connection, texts, (results) => {
    entries = committing.map((each) => {
      const { batch, changes } = each.message;
      const ofBatch = results.filter((_, index) => units[index]?.batch === each);
      return { worker: each.client.worker, batch, changes, results: encodeResults(ofBatch) };
    });
    ring.keep(entries);
  });

  /** What has become of a batch that another process may have committed before it ended. */
  function earlier({ client, message }: Batch): Settled | undefined {
    const results = message.isAgain ? ring.resultsOf(client.worker, message.batch) : undefined;
    return results === undefined
      ? undefined
      : { kind: "committed", answer: encodeCommitted(0, 0, results) };
  }

  return {
    connection,
    commit(batches: readonly Batch[]): Map<Batch, Settled> {
      const settled = new Map<Batch, Settled>();
      for (const batch of batches) {
        const before = earlier(batch);
        if (before !== undefined) settled.set(batch, before);
      }
      committing = batches.filter((batch) => !settled.has(batch));
      if (committing.length === 0) return settled;
      units = inOrderOfTime(committing);
      const outcome = applier.commit(units.map(({ unit }) => unit));
      if (outcome.kind === "committed") {
        ring.committed();
        const { kind, tookMs, flushMs } = outcome;
        committing.forEach((batch, at) =>
          settled.set(batch, {
            kind,
            answer: encodeCommitted(tookMs, flushMs, entries[at]?.results ?? ""),
          }),
        );
      } else {
        const failure = { ...outcome, answer: encodeFailure(outcome) };
        for (const batch of committing) settled.set(batch, failure);
      }
      return settled;
    },
    emptyLog(giveUp: (error: unknown) => void): void {
      try {
        connection.pragma("wal_checkpoint(TRUNCATE)", { simple: true });
      } catch (error) {
        // Nothing is lost: what the log holds stays in it, and whoever writes hears of the disk.
        if (isUnflushed(error)) giveUp(error);
      }
    },
  };
}
