import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { begin as beginCost } from "../../.ci/cost.js";
import { type Cluster, clusterPrefix, startCluster } from "./postgres-cluster.ts";

// Keeps one server for all test processes of a run: whoever holds a connection to this socket may use it, and a moment
// after the last one has gone it is stopped and removed. Of several keepers that are started at once, the one that gets
// the socket stays.

const [name = ""] = process.argv.slice(2);
const pauseMs = 3_000;

beginCost("test/support/postgres-keeper.ts");
let cluster: Cluster | undefined;
let failure: string | undefined;
let leaving: NodeJS.Timeout | undefined;
const users = new Set<Socket>();

const server = createServer((socket) => {
  clearTimeout(leaving);
  users.add(socket);
  tell(socket);
  socket.on("error", () => socket.destroy());
  socket.on("close", () => {
    users.delete(socket);
    if (users.size === 0) leaving = setTimeout(() => void leave(), pauseMs);
  });
});
server.on("error", () => process.exit(0));
server.listen(`\0${name}`, () => void begin());

async function begin(): Promise<void> {
  leaving = setTimeout(() => void leave(), pauseMs * 10);
  try {
    sweep();
    cluster = await startCluster();
    writeFileSync(join(cluster.folder, "keeper.pid"), `${process.pid} ${cluster.pid}`);
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
  }
  for (const socket of users) tell(socket);
  if (failure !== undefined) setTimeout(() => void leave(), 100);
}
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const)
  process.on(signal, () => void leave());

function tell(socket: Socket): void {
  if (cluster !== undefined) socket.write(`${JSON.stringify({ url: cluster.url("") })}\n`);
  else if (failure !== undefined) socket.end(`${JSON.stringify({ failure })}\n`);
}

async function leave(): Promise<void> {
  server.close();
  for (const socket of users) socket.destroy();
  await cluster?.[Symbol.asyncDispose]();
  process.exit(0);
}

/** Removes what a keeper left that was killed. */
function sweep(): void {
  for (const each of readdirSync(tmpdir())) {
    if (!each.startsWith(clusterPrefix)) continue;
    const folder = join(tmpdir(), each);
    try {
      const pids = readFileSync(join(folder, "keeper.pid"), "utf8").split(" ").map(Number);
      const [keeper = 0, postgres = 0] = pids;
      if (isAlive(keeper)) continue;
      if (readFileSync(`/proc/${postgres}/cmdline`, "utf8").includes(folder)) {
        process.kill(postgres, "SIGQUIT");
      }
    } catch (error) {
      // Without the file it is another's, or one that is just being made.
      if (!String(error).includes("/proc/")) continue;
    }
    rmSync(folder, { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
