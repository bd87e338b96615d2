import type { Concern, Deps } from "../../projection/module.ts";
import { eq } from "../../storage/drizzle.ts";
import { organization } from "../org/index.ts";
import { canLogIn, user } from "../user/index.ts";
import { memberships } from "./projection.ts";

const owner = "IAM_OWNER";
const monthMs = 30 * 24 * 3_600_000;
const mostTold = 20;

/** Instances that nobody can rule any more, and those that soon nobody will (authority J3). */
export async function ownerConcerns({
  db,
  events,
  now,
}: Pick<Deps, "db" | "events" | "now">): Promise<Concern[]> {
  const t = db.table(memberships);
  const rows = await db.read.select().from(t).where(eq(t.contextType, "instance"));
  const owners = rows.filter(({ roles, isAccepted }) => isAccepted && roles.includes(owner));
  const canRule = async (instanceId: string, userId: string, at: Date): Promise<boolean> => {
    const { state } = await events.load(user, instanceId, userId);
    if (state?.state !== "active" || !canLogIn(state, at)) return false;
    const { state: of } = await events.load(organization, instanceId, state.organizationId);
    return of?.state === "active";
  };
  const soon = new Date(now().getTime() + monthMs);
  const [none, few]: [string[], string[]] = [[], []];
  for (const [instanceId, all] of Map.groupBy(owners, (row) => row.instanceId)) {
    const isRuled = async (at: Date) => {
      for (const { userId } of all) if (await canRule(instanceId, userId, at)) return true;
      return false;
    };
    if (!(await isRuled(now()))) none.push(instanceId);
    else if (!(await isRuled(soon))) few.push(instanceId);
  }
  return [
    {
      name: "instances_without_owner",
      text: "instances have no active IAM_OWNER who can log in: run idsvc recover",
      count: none.length,
      some: none.slice(0, mostTold),
    },
    {
      name: "instances_soon_without_owner",
      text: "instances have no IAM_OWNER who can still log in in 30 days: their last credentials end",
      count: few.length,
      some: few.slice(0, mostTold),
    },
  ];
}
