import {
  alone,
  runningProcesses,
  type Siblings,
  siblingsOver,
  type ToWorker,
} from "../app/siblings.ts";
import type { SharedStore } from "../app/shared-store.ts";
import { requireBuild } from "../build.ts";
import { aliveEveryMs } from "./replacement.ts";

/**
 * The variables that tell a worker its number, how many serve together, whether it is the first that was ever started, its
 * name to the store, the build it is to be of, and, on SQLite, where the process listens that writes.
 */
export const workerVariables = {
  number: "WORKER_NUMBER",
  count: "WORKER_COUNT",
  isFirst: "WORKER_IS_FIRST",
  processName: "WORKER_PROCESS_NAME",
  build: "WORKER_BUILD",
  writerSocket: "WORKER_WRITER_SOCKET",
};

/** Whether this process was started as one of those that serve together (workers.ts). */
export const isWorker = (): boolean =>
  process.send !== undefined && process.env[workerVariables.number] !== undefined;

/**
 * What this process is among those that serve together, if it was started as one of them.
 *
 * @property isFirst what is said once at the start is said by it
 * @property shared the store of SQLite that they share
 * @property ready says that it serves
 * @throws FAILED_PRECONDITION FILES_REPLACED
 */
export function joinWorkers(): {
  siblings: Siblings;
  isFirst: boolean;
  shared?: SharedStore;
  ready: () => void;
} {
  if (!isWorker()) return { siblings: alone, isFirst: true, ready: () => {} };
  requireBuild(process.env[workerVariables.build]);
  // What is on its way as the other end goes is lost with it.
  const send = (message: object) => void (process.connected && process.send?.(message, () => {}));
  const siblings = siblingsOver(
    {
      send,
      onMessage: (listener) => process.on("message", (message) => listener(message as ToWorker)),
    },
    Number(process.env[workerVariables.number]),
    Number(process.env[workerVariables.count]),
  );
  // A worker without its primary ends: it would not be replaced or stopped. The channel may be closed before this is called.
  const end = () => process.kill(process.pid, "SIGTERM");
  if (process.connected) process.once("disconnect", end);
  else end();
  process.channel?.unref();
  const {
    [workerVariables.processName]: processName = "",
    [workerVariables.writerSocket]: socket,
  } = process.env;
  const shared = { socket: socket ?? "", processName, endedOf: endedOf(siblings) };
  return {
    siblings,
    ...(shared.socket === "" ? {} : { shared }),
    isFirst: process.env[workerVariables.isFirst] === "true",
    ready() {
      send({ kind: "ready" });
      setInterval(() => send({ kind: "alive" }), aliveEveryMs).unref();
    },
  };
}

/** Of these processes those that do not run; nobody where the one that has started this one does not say. */
const endedOf = (siblings: Siblings) => async (names: readonly string[]) => {
  const answers = await siblings.ask(runningProcesses);
  const running = new Set(answers.map(({ content }) => content));
  return running.size === 0 ? [] : names.filter((name) => !running.has(name));
};
