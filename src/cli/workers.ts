import { type ChildProcess, fork } from "node:child_process";
import type { Config } from "../app/config.ts";
import { openDataDir } from "../app/data-dir.ts";
import { freePortOf } from "../app/free-port.ts";
import { newProcessName } from "../app/shared-store.ts";
import type { FromWorker, ToWorker } from "../app/siblings.ts";
import { readBuild } from "../build.ts";
import { createLogger, type Logger } from "../telemetry/logger.ts";
import { exitCodes } from "./context.ts";
import {
  newSupervised,
  type Supervised,
  killSilent,
  mostFailures,
  noteEnd,
  noteStart,
} from "./replacement.ts";
import { keepSqliteWriter } from "./sqlite-writer.ts";
import { workerVariables } from "./worker.ts";
import { createRelay } from "./worker-relay.ts";

/** A worker that has said nothing for so long hangs. */
const silentMs = 10_000;
/** What a worker may take to end beyond the time for calls under way. */
const endingMs = 10_000;

/** The number and the process name of a worker; the one that replaces it has the same. */
type Slot = Supervised & { number: number; processName: string };

/**
 * Starts workers that serve together, and replaces those that end or hang. The first one opens the store alone; when it
 * serves, the others start. For a store of SQLite one more process writes, which is there before them and ends after them.
 *
 * @returns the exit code, once all have ended: that of the first, if it never served
 * @throws FAILED_PRECONDITION ADDRESS_UNAVAILABLE when the system does not give them the port; STORE_SERVED, STORE_PATH_TOO_LONG
 */
export async function superviseWorkers(config: Config, count: number): Promise<number> {
  const logger = createLogger(config.logLevel);
  const build = readBuild();
  const port = await freePortOf(config);
  const { promise, resolve } = Promise.withResolvers<number>();
  openDataDir(config);
  const { databaseUrl: store } = config;
  const writer =
    store.kind === "sqlite"
      ? await keepSqliteWriter({ path: store.file, build, logger }, (code) =>
          workers.stop(endingMs, code),
        )
      : undefined;
  const workers = createWorkers({ count, port, build, logger, socket: writer?.socket }, resolve);
  let isAsked = false;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      if (isAsked) {
        writer?.kill();
        return workers.kill();
      }
      isAsked = true;
      logger.info("stopping");
      workers.stop(config.shutdownTimeoutMs + endingMs);
    });
  }
  const code = await promise;
  await writer?.stop();
  if (isAsked) logger.info("stopped");
  logger.flush();
  return code;
}

/** What is the same for all workers: how many there are, the port, the build, and the socket of the process that writes. */
type WorkerSettings = { count: number; port: number; build: string; socket: string | undefined };

function createWorkers(
  { logger, ...settings }: WorkerSettings & { logger: Logger },
  done: (code: number) => void,
) {
  const slots = Array.from({ length: settings.count }, (_, at) => emptySlot(at + 1));
  const running = () => slots.filter((slot) => slot.process !== undefined);
  const relay = createRelay(() =>
    running().map((slot) => ({ ...slot, send: (message) => sendTo(slot, message) })),
  );
  const watch = killSilent(silentMs, running, ({ number: worker }) =>
    logger.error({ worker, silentMs }, "a worker hangs and is killed"),
  );
  let startedCount = 0;
  let hasServed = false;
  let isStopping = false;
  let worstCode: number = exitCodes.done;

  function start(slot: Slot): void {
    if (isStopping) return;
    slot.processName = newProcessName();
    const worker = startWorker(slot, startedCount === 0, settings);
    startedCount += 1;
    noteStart(slot, worker);
    worker.on("message", (message) => hear(slot, message as unknown as FromWorker));
    worker.on("error", (err) => logger.error({ err, worker: slot.number }, "a worker fails"));
    worker.on("exit", (code, signal) => end(slot, code, signal));
  }

  function hear(slot: Slot, message: FromWorker): void {
    slot.heardAt = performance.now();
    if (message.kind !== "ready") return relay.hear(slot.number, message);
    slot.isReady = true;
    if (hasServed) return;
    hasServed = true;
    slots.filter((each) => each !== slot).forEach(start);
  }

  function end(slot: Slot, code: number | null, signal: string | null): void {
    const { number: worker } = slot;
    const { lived, pauseMs } = noteEnd(slot);
    relay.forget(worker);
    // One that still starts has nothing under way, and ends by the signal that it is sent.
    const isStart = isStopping && signal === "SIGTERM";
    const ownCode = code ?? (isStart ? exitCodes.done : exitCodes.failed);
    if (!hasServed || isStopping) {
      worstCode = Math.max(worstCode, ownCode);
      if (running().length === 0) finish(worstCode);
      return;
    }
    if (slot.failures >= mostFailures && running().length === 0) {
      logger.fatal({ worker, code, signal }, "ending: no worker can be started");
      return finish(ownCode || exitCodes.failed);
    }
    logger.error({ worker, code, signal, lived, pauseMs }, "a worker has ended and is replaced");
    setTimeout(() => start(slot), pauseMs);
  }

  function finish(code: number): void {
    clearInterval(watch);
    isStopping = true;
    done(code);
  }

  const signalAll = (signal: NodeJS.Signals): void => {
    for (const slot of running()) slot.process?.kill(signal);
  };

  const [first] = slots;
  if (first !== undefined) start(first);
  return {
    /** @param ownCode the exit code, unless one ends with a larger one */
    stop(withinMs: number, ownCode: number = exitCodes.done): void {
      isStopping = true;
      worstCode = Math.max(worstCode, ownCode);
      if (running().length === 0) return finish(worstCode);
      signalAll("SIGTERM");
      setTimeout(() => signalAll("SIGKILL"), withinMs).unref();
    },
    kill(): void {
      worstCode = exitCodes.failed;
      signalAll("SIGKILL");
    },
  };
}

/** The same command line in a process of its own, with the port that was found. */
const startWorker = (
  { number, processName }: Slot,
  isFirst: boolean,
  { count, port, build, socket = "" }: WorkerSettings,
): ChildProcess =>
  fork(process.argv[1] ?? "", [...process.argv.slice(2), "--port", String(port)], {
    env: {
      ...process.env,
      [workerVariables.number]: String(number),
      [workerVariables.count]: String(count),
      [workerVariables.isFirst]: String(isFirst),
      [workerVariables.processName]: processName,
      [workerVariables.build]: build,
      [workerVariables.writerSocket]: socket,
    },
  });

const emptySlot = (number: number): Slot => ({ ...newSupervised(), number, processName: "" });

const sendTo = ({ process: worker }: Slot, message: ToWorker): void => {
  // One that is ending needs no word any more.
  if (worker?.connected === true) worker.send(message, () => undefined);
};
