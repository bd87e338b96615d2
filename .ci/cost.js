// What specs cost, for the table that `npm test` ends with. Loaded into the process of a spec, so it is JavaScript.
import { appendFileSync, readFileSync } from "node:fs";

const ledger = process.env["IDSVC_TEST_LEDGER"];
/** The number of processors' ticks in a second is the same for all that Linux runs on. */
const msPerTick = 10;

/** @type {{ spec: string, before: ReturnType<typeof usage> } | undefined} */
let open;

function usage() {
  const { user, system } = process.cpuUsage();
  return { self: (user + system) / 1_000, children: childrenMs(), wall: performance.now() };
}

/** Of processes that this one has started and that have ended, with theirs. Only Linux tells it. */
function childrenMs() {
  try {
    const stat = readFileSync("/proc/self/stat", "utf8");
    const [user, system] = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(13, 15);
    return (Number(user) + Number(system)) * msPerTick;
  } catch {
    return 0;
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
