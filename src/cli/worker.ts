import { alone, type Siblings, siblingsOver, type ToWorker } from "../app/siblings.ts";

/** How often a worker says that its event loop turns. */
export const aliveEveryMs = 1_000;

/** The variables that tell a worker its number, and whether it is the first that was ever started. */
export const workerVariables = { number: "WORKER_NUMBER", isFirst: "WORKER_IS_FIRST" };

/** Whether this process was started as one of those that serve together (workers.ts). */
export const isWorker = (): boolean =>
  process.send !== undefined && process.env[workerVariables.number] !== undefined;

/**
 * What this process is among those that serve together, if it was started as one of them.
 *
 * @property isFirst what is said once at the start is said by it
 * @property ready says that it serves
 */
export function joinWorkers(): { siblings: Siblings; isFirst: boolean; ready: () => void } {
  if (!isWorker()) return { siblings: alone, isFirst: true, ready: () => {} };
  // What is on its way as the other end goes is lost with it.
  const send = (message: object) => void (process.connected && process.send?.(message, () => {}));
  const siblings = siblingsOver(
    {
      send,
      onMessage: (listener) => process.on("message", (message) => listener(message as ToWorker)),
    },
    Number(process.env[workerVariables.number]),
  );
  // Nobody would replace it, nor stop it.
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  process.channel?.unref();
  return {
    siblings,
    isFirst: process.env[workerVariables.isFirst] === "true",
    ready() {
      send({ kind: "ready" });
      setInterval(() => send({ kind: "alive" }), aliveEveryMs).unref();
    },
  };
}
