import { refusalOfId } from "../authz/chosen-id.ts";
import type { Concern, Deps } from "../projection/module.ts";
import { apps } from "../resources/app/index.ts";
import { organizations } from "../resources/org/index.ts";
import { projects } from "../resources/project/index.ts";
import { users } from "../resources/user/index.ts";

const mostTold = 20;

/** Ids from before there was a rule for what callers choose (authority J7). What has them keeps them. */
export async function idConcerns({ db }: Pick<Deps, "db">): Promise<Concern[]> {
  const [u, o, p, a] = [
    db.table(users),
    db.table(organizations),
    db.table(projects),
    db.table(apps),
  ];
  const all = [
    await db.read.select({ instanceId: u.instanceId, id: u.id }).from(u),
    await db.read.select({ instanceId: o.instanceId, id: o.id }).from(o),
    await db.read.select({ instanceId: p.instanceId, id: p.id }).from(p),
    await db.read.select({ instanceId: a.instanceId, id: a.id }).from(a),
  ];
  const wrong = all
    .flat()
    .filter(({ id }) => refusalOfId(id, "", { allDigits: true }) !== undefined)
    .map(({ instanceId, id }) => `${instanceId}/${id}`);
  return [
    {
      name: "ids_that_are_refused",
      text: "users, organizations, projects or apps have ids that cannot be chosen any more, since they look like names of the service or are hard to tell apart: move to others where you can",
      count: wrong.length,
      some: wrong.slice(0, mostTold),
    },
  ];
}
