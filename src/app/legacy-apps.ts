import {
  endLegacyAccess,
  type LegacyApp,
  legacyApps,
  legacyEnding,
  legacyEndings,
} from "../resources/app/index.ts";
import { instances } from "../resources/instance/index.ts";
import type { Kernel } from "./kernel.ts";

/** The apps of the whole store that reach our APIs as before apps needed an access to them (decision 0088). */
export async function findLegacyApps({ db }: Pick<Kernel, "db">): Promise<LegacyApp[]> {
  const t = db.table(instances);
  const rows = await db.read.select({ id: t.id, projectId: t.projectId }).from(t);
  return legacyApps(db, new Map(rows.map(({ id, projectId }) => [id, projectId])));
}

/** When it ends, by instance, where somebody has said so. */
export const findLegacyEndings = ({ db }: Pick<Kernel, "db">) => legacyEndings(db);

/** Has it end by itself for all apps that still have it then; which they are now. */
export async function endLegacyAppsAt(
  kernel: Pick<Kernel, "db" | "newId" | "now">,
  at: Date,
): Promise<LegacyApp[]> {
  const found = await findLegacyApps(kernel);
  for (const instanceId of new Set(found.map((each) => each.instanceId))) {
    const changes = [legacyEnding(instanceId, kernel.newId(), kernel.now(), at)];
    await kernel.db.commit({ instanceId, expect: [], claims: [], events: [], changes });
  }
  return found;
}

/** Ends that for all of them; which they were. */
export async function endLegacyApps(kernel: Pick<Kernel, "db" | "events">): Promise<LegacyApp[]> {
  const found = await findLegacyApps(kernel);
  const by = { editorId: "system:cli", service: "cli", clientId: "", requestId: "" };
  await endLegacyAccess(kernel, by, found);
  return found;
}
