import type { Reaction } from "../../eventstore/settle.ts";
import { someIds } from "../../projection/ids.ts";
import type { Deps, RemoveContents } from "../../projection/module.ts";
import { byDecision, removal } from "../object/removal.ts";
import { deleteProjectGrant } from "./delete-project-grant.ts";
import { projectGrants } from "./project-grant/project-grant.ts";
import { roles } from "./role/role.ts";
import { userGrantRemoval } from "./user-grant/cascade.ts";

type Parts = Pick<Deps, "db" | "events">;

/** The roles, project grants and user grants of a project go with it. */
export function grantsGoWithProject(parts: Parts): Reaction {
  const userGrants = userGrantRemoval(parts);
  const all = [
    removal(parts, roles.table, byDecision(roles.aggregate, roles.remove)),
    removal(parts, projectGrants.table, byDecision(projectGrants.aggregate, projectGrants.remove)),
    userGrants,
  ];
  return {
    to: ["project.removed"],
    async react(tx, happened) {
      for (const { aggregateId: projectId } of happened) {
        for (const each of all) await each.within(tx, { projectId });
      }
    },
    ahead: (at, projectId) => userGrants.ahead(at, { projectId }),
  };
}

/** The user grants of a user go with them. */
export const grantsGoWithUser = (parts: Parts): Reaction =>
  userGrantRemoval(parts).goWith({ "user.removed": (userId) => ({ userId }) });

/**
 * Removes up to `limit` of the project grants that an organization was given, then of the user grants that it gave;
 * tells how many. What hangs on its own projects goes with these.
 */
export const removeContentsOfGrants =
  (deps: Deps): RemoveContents =>
  async (at, organizationId, limit) => {
    const given = { instanceId: at.instanceId, grantedOrganizationId: organizationId };
    const grants = await someIds(deps.db, projectGrants.table, given, limit);
    for (const id of grants) await deleteProjectGrant(deps, at, id);
    const left = limit - grants.length;
    if (left === 0) return limit;
    return grants.length + (await userGrantRemoval(deps).contents(at, organizationId, left));
  };
