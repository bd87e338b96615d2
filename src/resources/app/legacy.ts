import { columnsWhere } from "../../projection/rows.ts";
import type { WriteContext } from "../../eventstore/transaction.ts";
import { enqueue, handle, type JobHandlers, jobKind, jobs } from "../../jobs/job.ts";
import type { Deps } from "../../projection/module.ts";
import type { RowChange } from "../../storage/row-change.ts";
import { ownProjectReader } from "../instance/index.ts";
import type { Database } from "../../storage/database.ts";
import { and, asc, eq, inArray } from "../../storage/drizzle.ts";
import { app, appEvents, apps } from "./application.ts";
import { formerAudiences, ownProjectName } from "./former-access.ts";

export type LegacyApp = {
  instanceId: string;
  id: string;
  name: string;
  clientId: string;
  organizationId: string;
};

// One unit keeps other writers waiting while it commits.
const mostInOneUnit = 100;

/**
 * The apps that had tokens for our APIs before apps needed an access to them, and have it still (decision 0088).
 * @param ownProjects the service's own project of each instance
 */
export async function legacyApps(
  db: Database,
  ownProjects: ReadonlyMap<string, string>,
): Promise<LegacyApp[]> {
  const [t, f] = [db.table(apps), db.table(formerAudiences)];
  const { instanceId, id, name, clientId, organizationId } = t;
  const rows = await db.read
    .selectDistinct({ instanceId, id, name, clientId, organizationId, audience: f.audience })
    .from(t)
    .innerJoin(f, and(eq(f.instanceId, instanceId), eq(f.clientId, clientId)))
    .where(inArray(f.audience, [ownProjectName, ...ownProjects.values()]))
    .orderBy(asc(instanceId), asc(id));
  const found = new Map<string, LegacyApp>();
  for (const { audience, ...row } of rows) {
    const isOwn = audience === ownProjectName || audience === ownProjects.get(row.instanceId);
    if (isOwn) found.set(`${row.instanceId}/${row.id}`, row);
  }
  return [...found.values()];
}

const endLater = jobKind<Record<string, never>>("app.legacy.end");

/** What ends the access of all such apps of an instance when its day has come. */
export const legacyEnding = (instanceId: string, id: string, now: Date, dueAt: Date): RowChange =>
  enqueue(endLater, { instanceId, id, now, dueAt, position: 0n }, {});

/** When the access of such apps ends, by instance; the first day where there are more. */
export async function legacyEndings(db: Database): Promise<ReadonlyMap<string, Date>> {
  const due = { kind: endLater.name };
  const rows = await columnsWhere(db, jobs, ["instanceId", "dueAt"], due, ["-dueAt"]);
  return new Map(rows.map(({ instanceId, dueAt }) => [instanceId, dueAt]));
}

export function legacyJobs(deps: Pick<Deps, "db" | "events">): JobHandlers {
  const ownProject = ownProjectReader(deps.db);
  return handle(endLater, async (job) => {
    const { instanceId } = job;
    const own = new Map([[instanceId, await ownProject(instanceId)]]);
    const found = (await legacyApps(deps.db, own)).filter((each) => each.instanceId === instanceId);
    const by = { editorId: "system:legacy", service: endLater.name, clientId: "", requestId: "" };
    await endLegacyAccess(deps, by, found);
    await deps.events.transact({ ...by, instanceId }, (tx) => job.finish(tx));
    return "done";
  });
}

/** Ends what apps may do from before: from now on, what they are given and what people give them counts. */
export async function endLegacyAccess(
  { events }: Pick<Deps, "events">,
  at: Omit<WriteContext, "instanceId">,
  found: readonly LegacyApp[],
): Promise<void> {
  for (const [instanceId, mine] of Map.groupBy(found, (each) => each.instanceId)) {
    for (let from = 0; from < mine.length; from += mostInOneUnit) {
      await events.transact({ ...at, instanceId }, async (tx) => {
        for (const { id } of mine.slice(from, from + mostInOneUnit)) {
          const loaded = await tx.load(app, id);
          if (loaded.state === undefined) continue;
          const { clientId, apiAccess: access } = loaded.state;
          const ended = { clientId, ...(access === undefined ? {} : { access }) };
          tx.record(app, loaded, [appEvents["api_access.changed"](ended)]);
        }
      });
    }
  }
}
