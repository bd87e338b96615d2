import { createConnection, type Socket } from "node:net";
import type { Outcome } from "./apply.ts";
import { changesOf } from "./commit-ring.ts";
import type { CompiledUnit } from "./compile.ts";
import { onFrame, sendFrame } from "./frames.ts";
import { busyGiveUpMs, cannotWrite } from "./group-commit.ts";
import { decodeOutcome, encode, type ToSharedWriter } from "./shared-messages.ts";
import type { Writer } from "./writer.ts";

const reconnectMs = 20;

/** Where the process listens that writes for all (shared-writer.ts), and the name of this process, which no other has. */
export type Shared = { socket: string; worker: string };

type Waiting = {
  batch: number;
  units: readonly CompiledUnit[];
  changes: string;
  since: number;
  isSent: boolean;
  resolve: (outcome: Outcome) => void;
};

/**
 * Writes by another process, one batch after the other. When that one ends, the batch is sent again to the one that takes its
 * place, which knows whether it was committed.
 *
 * @param texts the text of each statement, at its number; it only grows
 * @param lost called when what is on disk nobody knows
 */
export function writeByProcess(
  { socket: address, worker }: Shared,
  texts: readonly string[],
  lost: (error: unknown) => void,
): Writer {
  let connected: Socket | undefined;
  let known = 0;
  let lastBatch = 0;
  let waiting: Waiting | undefined;
  let isClosed = false;

  function say(socket: Socket, message: ToSharedWriter): void {
    const { text, parts } = encode(message);
    sendFrame(socket, text, parts);
  }

  function sendBatch(): void {
    if (waiting === undefined || connected === undefined) return;
    const { batch, units, changes, isSent } = waiting;
    const more = texts.slice(known);
    known = texts.length;
    connected.ref();
    say(connected, { kind: "commit", batch, texts: more, units, changes, isAgain: isSent });
    waiting.isSent = true;
  }

  function answered(outcome: Outcome): void {
    const settled = waiting;
    waiting = undefined;
    connected?.unref();
    if (settled !== undefined) settled.resolve(outcome);
    else if (outcome.kind === "unknown") lost(outcome.error);
  }

  function connect(): void {
    const socket = createConnection(address);
    if (waiting === undefined) socket.unref();
    onFrame(socket, ({ text }) => answered(decodeOutcome(text)));
    socket.on("connect", () => {
      connected = socket;
      known = 0;
      say(socket, { kind: "hello", worker });
      sendBatch();
    });
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      connected = undefined;
      if (isClosed) return;
      if (waiting !== undefined && performance.now() - waiting.since > busyGiveUpMs) giveUp();
      const again = setTimeout(connect, reconnectMs);
      if (waiting === undefined) again.unref();
    });
  }

  /** Nobody has taken the place of the one that wrote. */
  function giveUp(): void {
    const error = new Error("the process that writes the store has ended, and no other has begun");
    answered(
      waiting?.isSent === true
        ? { kind: "unknown", error }
        : { kind: "failed", error: cannotWrite(error) },
    );
  }

  connect();
  return {
    commit(units, of) {
      lastBatch += 1;
      const { promise, resolve } = Promise.withResolvers<Outcome>();
      const since = performance.now();
      const changes = changesOf(of);
      waiting = { batch: lastBatch, units, changes, since, isSent: false, resolve };
      sendBatch();
      return promise;
    },
    // The one that writes does so by itself.
    emptyLog: () => ({ kind: "committed", results: [], tookMs: 0, flushMs: 0 }),
    close() {
      isClosed = true;
      connected?.end();
    },
  };
}
