// The search for power (decision 0089): started by test/fuzz/run.ts and by its test with hooks.ts preloaded.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { optionsOf } from "../../../.ci/options.ts";
import { readShapes } from "./call.ts";
import { type Attack, attack, replay } from "./run.ts";
import { roads } from "./roads.ts";
import { randomOf } from "./random.ts";
import { startService } from "./service.ts";
import { asTest, shrink } from "./shrink.ts";
import { allRoles } from "./world.ts";

const flags = optionsOf(
  "The search for power: attackers of every role take steps drawn from all methods, endpoints and pages.",
  {
    steps: ["2000", "how many steps"],
    seed: ["1", "begins the draws that this number began before"],
    seconds: ["", "ends after so long, however many steps were taken"],
    roles: ["", "of the roles, these alone"],
    each: ["400", "how many steps an attacker takes before the next begins in a new world"],
    processes: ["1", "how many processes serve the store: calls go to them in turn"],
    resume: ["", "a file that says how far the search has come, to go on from there"],
    table: [false, "prints what was tried and never succeeded"],
    roads: [
      false,
      "takes the roads that are known instead: that of the ruling which is replaced, or all of them",
    ],
    bare: [false, "says that something was found, and does not look for its shortest way"],
    all: [false, "goes on after something was found"],
  },
);
type Progress = { steps: number; worlds: number; tried: Record<string, [number, number]> };
const busy = ["ORG_OWNER", "IAM_ORG_MANAGER", "ORG_USER_MANAGER", "ORG_SETTINGS_MANAGER"].concat([
  "IAM_USER_MANAGER",
  "PROJECT_OWNER",
  "IAM_LOGIN_CLIENT",
  "ORG_OWNER",
]);
const without = process.env["IDSVC_AUTHORITY_WITHOUT"] ?? "";
const seed = Number(flags.seed);
const most = Number(flags.steps);
const each = Number(flags.each);
const processes = Number(flags.processes);
// Those that act on others more often than those that only look on. Owners of the instance hold everything at first, so
// little is left that they could find; but much can be called by them alone.
const roles =
  flags.roles === ""
    ? ["stranger", "nobody", "IAM_OWNER", ...allRoles, ...busy, ...busy]
    : flags.roles.split(",");

const begun: Progress =
  flags.resume !== "" && existsSync(flags.resume)
    ? JSON.parse(readFileSync(flags.resume, "utf8"))
    : { steps: 0, worlds: 0, tried: {} };
const began = performance.now();
const before = begun.steps;
let service = await startService(processes);
await readShapes(service);
if (flags.roads) {
  for (const { ruling, role, steps } of roads) {
    if (without !== "" && ruling !== without) continue;
    const broken = await replay(service, role, steps);
    console.log(`${ruling}: ${broken[0] ?? "leads nowhere"}`);
    if (broken.length > 0) process.exitCode = 1;
  }
  await service[Symbol.asyncDispose]();
  process.exit();
}
const refused = new Map<string, Map<string, number>>();
const byRole = new Map<string, { steps: number; done: number }>();
let worlds = 0;
const until =
  flags.seconds === "" ? Number.POSITIVE_INFINITY : began + Number(flags.seconds) * 1_000;
while (begun.steps < most && performance.now() < until) {
  // A process keeps much of each world in memory: after some a service is begun anew.
  if (worlds > 0 && worlds % 100 === 0) {
    await service[Symbol.asyncDispose]();
    service = await startService(processes);
  }
  const own = seed * 1_000_003 + begun.worlds;
  const role = randomOf(own).one(roles) ?? "nobody";
  const found = await attack(service, {
    role,
    seed: own,
    steps: Math.min(each, most - begun.steps),
    until,
  });
  note(found);
  begun.worlds++;
  worlds++;
  begun.steps += Math.max(1, found.steps.length);
  if (flags.resume !== "") writeFileSync(flags.resume, JSON.stringify(begun));
  if (found.broken.length === 0) continue;
  await tell(found, own);
  process.exitCode = 1;
  if (!flags.all) break;
}
const took = (performance.now() - began) / 1_000;
console.log(
  `${begun.steps} steps in ${begun.worlds} worlds, seed ${seed}, ${Math.round((begun.steps - before) / took)} steps/s`,
);
if (flags.table) table();
await service[Symbol.asyncDispose]();

function note({ role, tried }: Attack): void {
  const ofRole = byRole.get(role) ?? { steps: 0, done: 0 };
  byRole.set(role, ofRole);
  for (const [label, { steps, done, why }] of tried) {
    const reasons = refused.get(label) ?? new Map<string, number>();
    refused.set(label, reasons);
    for (const [reason, times] of why) reasons.set(reason, (reasons.get(reason) ?? 0) + times);
    const [had, hadDone] = begun.tried[label] ?? [0, 0];
    begun.tried[label] = [had + steps, hadDone + done];
    ofRole.steps += steps;
    ofRole.done += done;
  }
}

async function tell({ role, steps, done, broken }: Attack, own: number): Promise<void> {
  console.log(
    `FOUND after ${begun.steps} steps, seed ${seed}, world ${own}, ${role}: ${broken[0]}`,
  );
  if (flags.bare) return;
  const kind = (broken[0] ?? "").split(":")[0];
  const isBroken = async (some: typeof steps) =>
    (await replay(service, role, some)).some((one) => one.split(":")[0] === kind);
  // What was refused mostly does not matter.
  const tried = (await isBroken(done)) ? done : steps;
  const shortest = await shrink(tried, (some) => isBroken([...some]));
  console.log(asTest(role, shortest, broken));
}

function table(): void {
  for (const [role, { steps, done }] of byRole) console.log(role.padEnd(32), steps, done);
  const all = Object.entries(begun.tried).toSorted(([one], [other]) => (one < other ? -1 : 1));
  for (const [label, [steps, done]] of all) {
    if (done > 0) console.log(label.padEnd(60), steps, done);
  }
  const never = all.filter(([, [, done]]) => done === 0);
  console.log(`never, ${never.length} of ${all.length}:`);
  for (const [label, [steps]] of never) {
    const reasons = [...(refused.get(label) ?? [])].toSorted(([, one], [, other]) => other - one);
    const top = reasons.slice(0, 4).map(([reason, times]) => `${reason} ${times}`);
    console.log(label.padEnd(60), steps, top.join(", "));
  }
}
