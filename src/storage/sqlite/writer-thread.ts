// The thread that writes a store: it commits the batches that it is sent, in their order, and answers each with its outcome.
import "../../hardened.js";
import { parentPort, workerData } from "node:worker_threads";
import Sqlite from "better-sqlite3";
import { type Applier, createApplier, type Outcome } from "./apply.ts";
import { toSend } from "./errors.ts";
import { configure } from "./open.ts";
import { decodeUnits } from "./units.ts";
import { ready, type ToWriter, withErrors } from "./writer-messages.ts";

const port = parentPort;
const { path } = workerData as { path: string };
if (port === null) throw new Error("it runs as a thread");

const texts: string[] = [];
let opened: { connection: Sqlite.Database; applier: Applier } | undefined;

function writer() {
  if (opened !== undefined) return opened;
  const connection = new Sqlite(path, { fileMustExist: true });
  try {
    configure(connection);
    return (opened = { connection, applier: createApplier(connection, texts) });
  } catch (error) {
    connection.close();
    throw error;
  }
}

function answer(message: ToWriter): Outcome {
  try {
    if (message.kind === "commit") {
      const batch = decodeUnits(message);
      texts.push(...batch.texts);
      return writer().applier.commit(batch.units);
    }
    const { connection } = writer();
    if (message.kind === "emptyLog")
      connection.pragma("wal_checkpoint(TRUNCATE)", { simple: true });
    if (message.kind === "close") connection.close();
    return { kind: "committed", results: [], tookMs: 0, flushMs: 0 };
  } catch (error) {
    return { kind: "failed", error };
  }
}

port.on("message", (message: ToWriter) => {
  port.postMessage(withErrors(answer(message), toSend));
  if (message.kind === "close") port.close();
});
port.postMessage(ready);
