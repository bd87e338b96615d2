import { projectGrants, userGrants } from "../../../src/resources/grant/index.ts";
import { projects } from "../../../src/resources/project/index.ts";
import { and, eq } from "../../../src/storage/drizzle.ts";
import type { World } from "./world.ts";

type Known = Pick<World, "service" | "instanceId">;

// Read from the tables: an attacker may have shut out everybody whom the API would answer.

/** The organization that owns a project; undefined where there is none. */
export async function homeOfProject({ service, instanceId }: Known, projectId: string) {
  const { db } = service.deps;
  const t = db.table(projects.table);
  const [row] = await db.read
    .select({ home: t.organizationId })
    .from(t)
    .where(and(eq(t.instanceId, instanceId), eq(t.id, projectId)));
  return row?.home;
}

/** What projects are granted, and to whom. */
export async function projectGrantsIn({ service, instanceId }: Known) {
  const { db } = service.deps;
  const t = db.table(projectGrants.table);
  return db.read.select().from(t).where(eq(t.instanceId, instanceId));
}

/** What users were granted of projects. */
export async function userGrantsIn({ service, instanceId }: Known) {
  const { db } = service.deps;
  const t = db.table(userGrants.table);
  return db.read.select().from(t).where(eq(t.instanceId, instanceId));
}
