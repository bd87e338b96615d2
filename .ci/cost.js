// What specs cost, for the table that `npm test` ends with. Loaded into the process of a spec, so it is JavaScript.
import { appendFileSync, readdirSync, readFileSync } from "node:fs";

const ledger = process.env["IDSVC_TEST_LEDGER"];
/** The number of processors' ticks in a second is the same for all that Linux runs on. */
const msPerTick = 10;

/** @type {{ spec: string, before: ReturnType<typeof usage> } | undefined} */
let open;

function usage() {
  const { user, system } = process.cpuUsage();
  return { self: (user + system) / 1_000, children: childrenMs(), wall: performance.now() };
}

/** Of processes that this one has started, with theirs, ended or not: a browser outlives its spec. Only Linux tells it. */
function childrenMs() {
  const own = statOf("self");
  if (own === undefined) return 0;
  const all = readdirSync("/proc").flatMap((name) =>
    /^\d+$/.test(name) ? (statOf(name) ?? []) : [],
  );
  /** @type {(above: number) => number} */
  const sumBelow = (above) =>
    all
      .filter(({ id, parent }) => parent === above && !(above === process.pid && isKeeper(id)))
      .reduce((sum, { id, self, ended }) => sum + self + ended + sumBelow(id), 0);
  return own.ended + sumBelow(process.pid);
}

/**
 * The PostgreSQL server that specs share is in nobody's sum: who keeps it says itself what it took.
 *
 * @type {(id: number) => boolean}
 */
const isKeeper = (id) => textOf(`/proc/${id}/cmdline`).includes("postgres-keeper");

/**
 * What a process has taken itself, and those that it has waited for.
 *
 * @param {string} name
 */
function statOf(name) {
  const stat = textOf(`/proc/${name}/stat`);
  if (stat === "") return undefined;
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15).map(Number);
  return {
    id: Number.parseInt(stat, 10),
    parent: Number(fields[1]),
    self: (user + system) * msPerTick,
    ended: (endedUser + endedSystem) * msPerTick,
  };
}

/**
 * Nothing, where the process has ended meanwhile.
 *
 * @param {string} path
 */
function textOf(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function close() {
  if (open === undefined || ledger === undefined) return;
  const now = usage();
  const { spec, before } = open;
  const [self, children, wall] = ["self", "children", "wall"].map(
    (each) => now[each] - before[each],
  );
  const engine = process.env["IDSVC_TEST_ENGINE"] ?? "";
  appendFileSync(ledger, `${JSON.stringify({ engine, spec, self, children, wall })}\n`);
}

/** From here on, what this process takes is what this spec costs. What it has taken before is the first one's. */
export function begin(spec) {
  if (open === undefined) process.once("exit", close);
  else close();
  open = { spec, before: open === undefined ? { self: 0, children: 0, wall: 0 } : usage() };
}
