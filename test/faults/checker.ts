import { loadConfig } from "../../src/app/config.ts";
import { type Kernel, openKernel } from "../../src/app/kernel.ts";
import { definition } from "../../src/eventstore/event.ts";
import type { LoggedEvent } from "../../src/eventstore/eventstore.ts";
import { verifyProjections } from "../../src/projection/rebuild.ts";
import { columnName } from "../../src/storage/table.ts";
import { silentLogger } from "../../src/telemetry/logger.ts";
import { beside } from "../support/beside.ts";
import type { Entry } from "./client-log.ts";
import { integrity } from "./integrity.ts";

/** A store: its data folder, and what else the configuration must say to find it. */
export type StorePlace = { dataDir: string; env?: Record<string, string> };

/**
 * Proves from the clients' log, the events and the tables that nothing acknowledged was lost and nothing else came to
 * be (docs/faults.md). Gives every violation in words; none means sound. Without a log, what clients know is
 * left out.
 *
 * Rule 4 is the readers' own to prove (`f11-reader-race.ts`, `watcher.ts`).
 */
export async function check(place: StorePlace, log?: readonly Entry[]): Promise<string[]> {
  const { dataDir, env = {} } = place;
  const config = loadConfig({ files: [], flags: {}, env: { IDSVC_DATA_DIR: dataDir, ...env } });
  // Before anything is opened that would refuse a damaged store.
  const damage = await integrity(config.databaseUrl);
  if (damage.length > 0) return damage;
  await using kernel = await openKernel(config, { logger: silentLogger() });
  return await checkStore(kernel, log);
}

/** The same for a store that is open; nobody may write meanwhile. */
export async function checkStore(kernel: Kernel, log?: readonly Entry[]): Promise<string[]> {
  const events = await allEvents(kernel);
  return [
    ...(await sequencesWithoutHoles(events, kernel)),
    ...versionsWithoutHoles(events),
    ...(log === undefined ? [] : clientsAreRight(events, log)),
    ...(await claimsEqualFold(events, kernel)),
    ...(await secretsEqualFold(events, kernel)),
    ...(await countsAreExact(kernel)),
    ...(await projectionsEqualFold(kernel)),
  ];
}

const clientsAreRight = (events: LoggedEvent[], log: readonly Entry[]): string[] => [
  ...writesAreThere(events, log),
  ...readsSeeWrites(log),
  ...oneTimeValuesCountOnce(log),
  ...tokensAreKnown(log),
];

async function allEvents(kernel: Kernel): Promise<LoggedEvent[]> {
  const logs: LoggedEvent[][] = [];
  for (const instanceId of (await kernel.db.heads()).keys())
    logs.push(await kernel.events.read({ instanceId }));
  return logs.flat();
}

/** Rows as texts, which are the same whatever engine gives them. */
async function rowsOf(kernel: Kernel, sql: string): Promise<string[]> {
  const { rows } = await beside(kernel, sql);
  return rows.map((row) => JSON.stringify(row.map(String)));
}

function difference(what: string, wanted: Iterable<string>, found: Iterable<string>): string[] {
  const [a, b] = [new Set(wanted), new Set(found)];
  return [
    ...[...a].filter((each) => !b.has(each)).map((each) => `${what}: ${each} is missing`),
    ...[...b].filter((each) => !a.has(each)).map((each) => `${what}: ${each} is too many`),
  ];
}

/** One counter an instance: 1 to the head, each once, in the order of the log. */
async function sequencesWithoutHoles(events: LoggedEvent[], kernel: Kernel): Promise<string[]> {
  const last = new Map<string, bigint>();
  const violations: string[] = [];
  for (const { instanceId, sequence } of events) {
    const expected = (last.get(instanceId) ?? 0n) + 1n;
    if (sequence !== expected)
      violations.push(`sequence ${sequence} stands where ${expected} belongs`);
    last.set(instanceId, sequence);
  }
  const heads = [...last].map(([instanceId, head]) => JSON.stringify([instanceId, `${head}`]));
  return [
    ...violations,
    ...difference("head", heads, await rowsOf(kernel, "SELECT instance_id, last FROM sequences")),
  ];
}

/** Rule 3. */
function versionsWithoutHoles(events: LoggedEvent[]): string[] {
  const last = new Map<string, bigint>();
  return events.flatMap((event) => {
    const name = `${event.instanceId}/${event.aggregateType}/${event.aggregateId}`;
    const expected = (last.get(name) ?? 0n) + 1n;
    last.set(name, event.aggregateVersion);
    return event.aggregateVersion === expected
      ? []
      : [`${name} has version ${event.aggregateVersion} where ${expected} belongs`];
  });
}

/** Targets have it at the end of their url, users as the name in their data. */
function markOf({ payload }: LoggedEvent): string | undefined {
  const { url = "", data } = Object(payload);
  return /(?:^|\/)(mark-\d+)$/.exec(String(Object(data).name ?? url))?.[1];
}

/** What the log must tell of a write, last of all. */
const typeOf: Record<Exclude<Entry["op"], "read" | "use token" | "redeem">, string> = {
  create: "target.added",
  patch: "target.changed",
  delete: "target.removed",
  put: "execution.set",
  "add user": "user.machine.added",
  "remove user": "user.removed",
  "add token": "user.pat.added",
  "open session": "session.token.set",
  "end session": "session.terminated",
  "add project": "project.added",
  "add role": "project.role.added",
  "give grant": "user.grant.added",
  "take grant": "user.grant.removed",
};
const marking: readonly Entry["op"][] = ["create", "patch", "add user"];

/** Rules 1 and 2, and that nothing is in the log which nobody wrote. */
function writesAreThere(events: LoggedEvent[], log: readonly Entry[]): string[] {
  const marked = Map.groupBy(
    events.filter((event) => markOf(event) !== undefined),
    (event) => markOf(event) ?? "",
  );
  const at = new Map(events.map((event) => [`${event.aggregateId}@${event.sequence}`, event]));
  const sent = new Set(log.map(({ mark }) => mark));
  const violations = [...marked.keys()]
    .filter((mark) => !sent.has(mark))
    .map((mark) => `${mark} was written by nobody`);
  for (const { op, mark, outcome, id, sequence } of log) {
    if (op === "read" || op === "use token" || op === "redeem") continue;
    const written = marked.get(mark) ?? [];
    const name = `${op} ${mark} of ${id}`;
    if (outcome === "acknowledged") {
      const event = at.get(`${id}@${sequence}`);
      if (event?.type !== typeOf[op])
        violations.push(`${name}: acknowledged at ${sequence}, not there`);
      if (marking.includes(op) && (written.length !== 1 || written[0] !== event))
        violations.push(`${name}: acknowledged once, there ${written.length} times`);
    } else if (outcome === "refused" && written.length > 0) {
      violations.push(`${name}: refused, yet there`);
    } else if (written.length > 1) {
      violations.push(`${name}: there ${written.length} times`);
    }
  }
  return violations;
}

/** Rule 8. A read that found nothing has sequence 0. */
const readsSeeWrites = (log: readonly Entry[]): string[] =>
  log
    .filter(({ op, outcome }) => op === "read" && outcome === "acknowledged")
    .filter(({ sequence, atLeast = 0n }) => sequence < atLeast)
    .map(({ id, sequence, atLeast }) => `read of ${id} showed ${sequence} after ${atLeast}`);

/** Rule 7: of all who redeem a one-time value one succeeds. */
function oneTimeValuesCountOnce(log: readonly Entry[]): string[] {
  const succeeded = log.filter(({ op, outcome }) => op === "redeem" && outcome === "acknowledged");
  return [...Map.groupBy(succeeded, ({ mark }) => mark)]
    .filter(([, all]) => all.length > 1)
    .map(([mark, all]) => `${mark} was redeemed ${all.length} times`);
}

/** A token is known to the process that has acknowledged it. */
const tokensAreKnown = (log: readonly Entry[]): string[] =>
  log
    .filter(({ op, outcome }) => op === "use token" && outcome === "refused")
    .map(({ id, mark }) => `the token of ${id} (${mark}) was acknowledged, and is unknown`);

/** Rule 6. */
async function claimsEqualFold(events: LoggedEvent[], kernel: Kernel): Promise<string[]> {
  const rules = new Map(
    kernel.modules.flatMap((module) => module.events.flatMap((set) => [...set[definition].rules])),
  );
  const holderOf = new Map<string, string>();
  const heldBy = new Map<string, Set<string>>();
  const violations: string[] = [];
  const free = (owner: string, claim: string) => {
    heldBy.get(owner)?.delete(claim);
    holderOf.delete(claim);
  };
  for (const event of events) {
    if (event.type === "instance.contents.removed") {
      const ofInstance = (claim: string) => JSON.parse(claim)[0] === event.instanceId;
      for (const [claim, owner] of holderOf.entries().toArray())
        if (ofInstance(claim)) free(owner, claim);
    }
    for (const { op, kind, value, systemWide } of rules.get(event.type)?.claims?.(event.payload) ??
      []) {
      const scope = systemWide ? "" : event.instanceId;
      const owner = JSON.stringify([scope, event.aggregateType, event.aggregateId, kind]);
      const claim = JSON.stringify([scope, kind, value]);
      const mine = heldBy.get(owner) ?? new Set();
      heldBy.set(owner, mine);
      const freed =
        op === "add" ? [] : op === "release" && value !== undefined ? [claim] : [...mine];
      for (const each of freed) free(owner, each);
      if (op === "release") continue;
      if (![undefined, owner].includes(holderOf.get(claim)))
        violations.push(`${claim}: two holders`);
      mine.add(claim);
      holderOf.set(claim, owner);
    }
  }
  const wanted = [...holderOf].map(([claim, owner]) => `${claim} by ${owner}`);
  const { rows } = await beside(
    kernel,
    "SELECT scope, kind, value, holder_type, holder_id FROM claims",
  );
  const found = rows.map(
    ([scope, kind, value, type, id]) =>
      `${JSON.stringify([scope, kind, value])} by ${JSON.stringify([scope, type, id, kind])}`,
  );
  return [...violations, ...difference("claim", wanted, found)];
}

/** Every target that is there has the key that signs its calls, and no other has one. */
async function secretsEqualFold(all: LoggedEvent[], kernel: Kernel): Promise<string[]> {
  // All secrets of an instance go with it, in one step.
  const gone = new Set(
    all.filter(({ type }) => type === "instance.removed").map(({ aggregateId }) => aggregateId),
  );
  const events = all.filter(({ instanceId }) => !gone.has(instanceId));
  const live = new Set<string>();
  for (const { type, aggregateId } of events) {
    if (type === "target.added") live.add(aggregateId);
    if (type === "target.removed") live.delete(aggregateId);
  }
  const { rows } = await beside(
    kernel,
    "SELECT owner_id FROM secrets WHERE owner_type = 'target' AND kind = 'signing_key'",
  );
  const keys = rows.flat().map(String);
  return [...difference("signing key", live, keys), ...(await webKeysEqualFold(events, kernel))];
}

async function webKeysEqualFold(events: LoggedEvent[], kernel: Kernel): Promise<string[]> {
  const live = new Set<string>();
  for (const { type, aggregateId } of events) {
    if (type === "web_key.added") live.add(aggregateId);
    if (type === "web_key.removed") live.delete(aggregateId);
  }
  const { rows } = await beside(
    kernel,
    "SELECT id FROM secrets WHERE owner_type = 'instance' AND kind = 'web_key'",
  );
  return difference("web key", live, rows.flat().map(String));
}

async function countsAreExact(kernel: Kernel): Promise<string[]> {
  const violations: string[] = [];
  for (const { name, countedBy } of kernel.projectionTables) {
    if (countedBy === undefined) continue;
    const column = columnName(countedBy);
    const counted = `SELECT counted, rows FROM row_counts WHERE table_name = '${name}' AND rows > 0`;
    const rows = `SELECT "${column}", count(*) FROM "${name}" GROUP BY 1`;
    violations.push(
      ...difference(`count of ${name}`, await rowsOf(kernel, rows), await rowsOf(kernel, counted)),
    );
  }
  return violations;
}

/** Rule 5. */
async function projectionsEqualFold(kernel: Kernel): Promise<string[]> {
  const differing = await verifyProjections(kernel, kernel.projectionTables);
  return [...differing]
    .filter(([, rows]) => rows > 0)
    .map(([table, rows]) => `projection ${table}: ${rows} rows differ from the fold`);
}
