import type { Concern, Deps } from "../../projection/module.ts";
import { and, desc, gte, inArray } from "../../storage/drizzle.ts";
import { events } from "../../storage/kernel-tables.ts";

const monthMs = 30 * 24 * 3_600_000;
const mostTold = 20;
const added = "user.recovery.link.added";
const used = "user.recovery.link.used";

/** Ways back into accounts that were made on the machine in the last 30 days, and those that were followed (J21). */
export async function recoveryLinkConcerns({
  db,
  now,
}: Pick<Deps, "db" | "now">): Promise<Concern[]> {
  const t = db.table(events);
  const rows = await db.read
    .select({ instanceId: t.instanceId, id: t.aggregateId, type: t.type })
    .from(t)
    .where(
      and(inArray(t.type, [added, used]), gte(t.createdAt, new Date(now().getTime() - monthMs))),
    )
    .orderBy(desc(t.createdAt));
  const listed = (type: string) => {
    const of = rows.filter((row) => row.type === type);
    const users = new Set(of.map(({ instanceId, id }) => `${instanceId}/${id}`));
    return { count: of.length, some: [...users].slice(0, mostTold) };
  };
  return [
    {
      name: "recovery_links_made",
      text: "recovery links were made on this machine in the last 30 days: someone here should know of each",
      ...listed(added),
    },
    {
      name: "recovery_links_used",
      text: "recovery links were used in the last 30 days: the users were given new passwords by them",
      ...listed(used),
    },
  ];
}
