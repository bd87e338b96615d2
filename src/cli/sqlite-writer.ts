import { fork } from "node:child_process";
import { relative } from "node:path";
import { type FromWriter, writerScript } from "../app/shared-store.ts";
import { failedPrecondition, internal } from "../errors.ts";
import type { Logger } from "../telemetry/logger.ts";
import { exitCodes } from "./context.ts";
import { heapFlags } from "./heap.ts";
import { newSupervised, killSilent, mostFailures, noteEnd, noteStart } from "./replacement.ts";

/** A flush of a slow disk lets it say nothing. */
const silentMs = 30_000;
/** What an address of a socket may take: 104 bytes with its end on macOS, 108 on Linux. */
const longestAddress = 103;

export type SqliteWriter = {
  /** Where those that serve the store reach it. */
  socket: string;
  /** Resolves once it has ended, after whatever it was sent. */
  stop(): Promise<void>;
  kill(): void;
};

/**
 * Keeps a process running that writes the store for all that serve it.
 *
 * @param failed called with the exit code where it could be started once and cannot be started any more
 * @param build the one that it is to be of
 * @throws FAILED_PRECONDITION STORE_SERVED, STORE_PATH_TOO_LONG, FILES_REPLACED; INTERNAL WRITER_FAILED
 */
export async function keepSqliteWriter(
  { path, build, logger }: { path: string; build: string; logger: Logger },
  failed: (code: number) => void,
): Promise<SqliteWriter> {
  const socket = addressBeside(path);
  const supervised = newSupervised();
  const first = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  let hasServed = false;
  let isStopping = false;

  function start(): void {
    if (isStopping) return;
    const execArgv = [...process.execArgv, ...heapFlags];
    noteStart(supervised, fork(writerScript, [path, socket, build], { execArgv }));
    supervised.process?.on("message", (message) => hear(message as FromWriter));
    supervised.process?.on("error", (err) =>
      logger.error({ err }, "the process that writes fails"),
    );
    supervised.process?.on("exit", end);
  }

  function hear(message: FromWriter): void {
    supervised.heardAt = performance.now();
    if (message.kind === "refused") {
      first.reject(failedPrecondition(message.reason, message.message));
      // At the first start the caller says it.
      if (hasServed) logger.error({ reason: message.reason }, message.message);
      // The next one would be refused as well, and nothing can be written until the service is restarted.
      if (message.reason === "FILES_REPLACED") supervised.failures = mostFailures;
    } else if (message.kind === "ready") {
      supervised.isReady = true;
      hasServed = true;
      first.resolve();
    }
  }

  function end(code: number | null, signal: string | null): void {
    const { lived, pauseMs } = noteEnd(supervised);
    if (isStopping) return stopped.resolve();
    if (supervised.failures >= mostFailures) {
      const why = "no process can be started that writes the store";
      logger.fatal({ code, signal }, `ending: ${why}`);
      first.reject(internal("WRITER_FAILED", why));
      return hasServed ? failed(code || exitCodes.failed) : undefined;
    }
    logger.error(
      { code, signal, lived, pauseMs },
      "the process that writes has ended and is replaced",
    );
    setTimeout(start, pauseMs);
  }

  const watch = killSilent(
    silentMs,
    () => [supervised],
    () => logger.error({ silentMs }, "the process that writes hangs and is killed"),
  );
  const finish = (): void => {
    isStopping = true;
    clearInterval(watch);
  };
  start();
  try {
    await first.promise;
  } catch (error) {
    finish();
    throw error;
  }
  return {
    socket,
    stop() {
      finish();
      if (supervised.process === undefined) stopped.resolve();
      else supervised.process.send({ kind: "stop" }, () => undefined);
      return stopped.promise;
    },
    kill() {
      finish();
      supervised.process?.kill("SIGKILL");
    },
  };
}

/** Beside the store, so that only its user can reach it. */
function addressBeside(path: string): string {
  const absolute = `${path}-writer`;
  const near = relative(process.cwd(), absolute);
  const address = [absolute, near].find((each) => Buffer.byteLength(each) <= longestAddress);
  if (address !== undefined) return address;
  throw failedPrecondition(
    "STORE_PATH_TOO_LONG",
    `the path of the store ${path} is too long for a socket beside it, which several processes need (${longestAddress} bytes): move the store, or set IDSVC_PROCESSES to 1`,
  );
}
