import { type ChildProcess, fork } from "node:child_process";
import type { Config } from "../app/config.ts";
import { freePortOf } from "../app/free-port.ts";
import type { FromWorker, ToWorker } from "../app/siblings.ts";
import { createLogger, type Logger } from "../telemetry/logger.ts";
import { exitCodes } from "./context.ts";
import { aliveEveryMs, workerVariables } from "./worker.ts";
import { createRelay } from "./worker-relay.ts";

/** A worker that has said nothing for so long hangs. */
const silentMs = 10_000;
/** What a worker may take to end beyond the time for calls under way. */
const endingMs = 10_000;
/** Who ends sooner than this is replaced after a pause; who never served after one that is twice as long each time. */
const soonMs = 10_000;
const leastPauseMs = 1_000;
const longestPauseMs = 30_000;
/** So often one may fail while no other serves. */
const mostFailures = 5;

/** A place that one worker has at a time. */
type Slot = {
  number: number;
  worker: ChildProcess | undefined;
  startedAt: number;
  isReady: boolean;
  heardAt: number;
  failures: number;
};

/**
 * Starts workers that serve together, and replaces those that end or hang. The first one opens the store alone; when it
 * serves, the others start.
 *
 * @returns the exit code, once all have ended: that of the first, if it never served
 * @throws FAILED_PRECONDITION ADDRESS_UNAVAILABLE when the system does not give them the port
 */
export async function superviseWorkers(config: Config, count: number): Promise<number> {
  const logger = createLogger(config.logLevel);
  const port = await freePortOf(config);
  const { promise, resolve } = Promise.withResolvers<number>();
  const workers = createWorkers({ count, port, logger }, resolve);
  let isAsked = false;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      if (isAsked) return workers.kill();
      isAsked = true;
      logger.info("stopping");
      workers.stop(config.shutdownTimeoutMs + endingMs);
    });
  }
  const code = await promise;
  if (isAsked) logger.info("stopped");
  logger.flush();
  return code;
}

function createWorkers(
  { count, port, logger }: { count: number; port: number; logger: Logger },
  done: (code: number) => void,
) {
  const slots = Array.from({ length: count }, (_, at) => emptySlot(at + 1));
  const running = () => slots.filter(({ worker }) => worker !== undefined);
  const relay = createRelay(() =>
    slots.flatMap(({ number, worker, isReady }) =>
      worker !== undefined && isReady
        ? [{ number, send: (message: ToWorker) => sendTo(worker, message) }]
        : [],
    ),
  );
  const watch = killSilent(running, logger);
  let startedCount = 0;
  let hasServed = false;
  let isStopping = false;
  let worstCode: number = exitCodes.done;

  function start(slot: Slot): void {
    if (isStopping) return;
    const worker = startWorker(slot.number, startedCount === 0, port);
    startedCount += 1;
    Object.assign(slot, { worker, startedAt: performance.now(), isReady: false });
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
    const { number: worker, startedAt } = slot;
    slot.worker = undefined;
    relay.forget(worker);
    const ownCode = code ?? exitCodes.failed;
    if (!hasServed || isStopping) {
      worstCode = Math.max(worstCode, ownCode);
      if (running().length === 0) finish(worstCode);
      return;
    }
    const lived = Math.round(performance.now() - startedAt);
    slot.failures = slot.isReady ? 0 : slot.failures + 1;
    if (slot.failures >= mostFailures && running().length === 0) {
      logger.fatal({ worker, code, signal }, "ending: no worker can be started");
      return finish(ownCode);
    }
    const pauseMs = pauseAfter(slot.failures, lived);
    logger.error({ worker, code, signal, lived, pauseMs }, "a worker has ended and is replaced");
    setTimeout(() => start(slot), pauseMs);
  }

  function finish(code: number): void {
    clearInterval(watch);
    isStopping = true;
    done(code);
  }

  const signalAll = (signal: NodeJS.Signals): void => {
    for (const { worker } of running()) worker?.kill(signal);
  };

  const [first] = slots;
  if (first !== undefined) start(first);
  return {
    stop(withinMs: number): void {
      isStopping = true;
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

/** Who served for a while is replaced at once. */
const pauseAfter = (failures: number, lived: number): number =>
  failures === 0
    ? lived < soonMs
      ? leastPauseMs
      : 0
    : Math.min(2 ** (failures - 1) * leastPauseMs, longestPauseMs);

/** Looks each second for workers that are ready and have said nothing for long. */
function killSilent(running: () => Slot[], logger: Logger): NodeJS.Timeout {
  let lookedAt = performance.now();
  return setInterval(() => {
    const now = performance.now();
    // After a pause of this process itself nobody could be heard.
    const wasAsleep = now - lookedAt > silentMs / 2;
    lookedAt = now;
    for (const slot of running()) {
      if (wasAsleep) slot.heardAt = now;
      if (!slot.isReady || now - slot.heardAt < silentMs) continue;
      logger.error({ worker: slot.number, silentMs }, "a worker hangs and is killed");
      slot.heardAt = now;
      slot.worker?.kill("SIGKILL");
    }
  }, aliveEveryMs);
}

/** The same command line in a process of its own, with the port that was found. */
const startWorker = (number: number, isFirst: boolean, port: number): ChildProcess =>
  fork(process.argv[1] ?? "", [...process.argv.slice(2), "--port", String(port)], {
    env: {
      ...process.env,
      [workerVariables.number]: String(number),
      [workerVariables.isFirst]: String(isFirst),
    },
  });

const emptySlot = (number: number): Slot => ({
  ...{ number, worker: undefined, isReady: false, failures: 0 },
  ...{ startedAt: 0, heardAt: 0 },
});

const sendTo = (worker: ChildProcess, message: ToWorker): void => {
  // One that is ending needs no word any more.
  if (worker.connected) worker.send(message, () => undefined);
};
