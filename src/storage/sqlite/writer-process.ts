// The process that writes an SQLite store for those that serve it together. It is given the file, the socket and the build
// of the one that has started it, and ends when that one says so; where that is gone, once those that serve have ended.
import "../../hardened.js";
import { requireBuild } from "../../build.ts";
import { DomainError } from "../../errors.ts";
import { serveWriter } from "./shared-writer.ts";

/** What it says to the one that has started it. */
export type FromWriter =
  | { kind: "ready" }
  | { kind: "alive" }
  | { kind: "refused"; reason: string; message: string };

const aliveEveryMs = 1_000;
const lookEveryMs = 50;
/** Those who wait for an answer hear of a flush that failed before the process ends. */
const lastWordMs = 100;

// The interrupt of a terminal reaches it too: what is under way is still to be written.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => undefined);
process.umask(0o077);
const [path = "", socket = "", build] = process.argv.slice(2);
// A message that cannot be sent is dropped: "disconnect" follows.
const say = (message: FromWriter) => void (process.connected && process.send?.(message, () => {}));

try {
  requireBuild(build);
  const writer = await serveWriter({ path, socket }, () => {
    setTimeout(() => process.kill(process.pid, "SIGKILL"), lastWordMs);
  });
  const end = async () => {
    await writer[Symbol.asyncDispose]();
    process.exit(0);
  };
  process.once("message", () => void end());
  const endUnused = () => void setInterval(() => void (writer.isUsed() || end()), lookEveryMs);
  // The channel may be closed before the store is open.
  if (process.connected) process.once("disconnect", endUnused);
  else endUnused();
  setInterval(() => say({ kind: "alive" }), aliveEveryMs);
  say({ kind: "ready" });
} catch (error) {
  if (!(error instanceof DomainError)) throw error;
  say({ kind: "refused", reason: error.reason, message: error.message });
  process.exitCode = 1;
  if (process.connected) process.disconnect();
}
