import { UserGrantService } from "#gen/idsvc/resources/grant/v3alpha/user_grant_service_pb.ts";
import { type Scope, writeContext } from "../../../authz/context.ts";
import { type Authorize, authorizeById, type Handlers } from "../../../authz/service.ts";
import type { Transaction } from "../../../eventstore/transaction.ts";
import type { Deps } from "../../../projection/module.ts";
import { answering, changing, plainHandlers } from "../../object/plain.ts";
import { projectOwnership, projects, requireProject } from "../../project/index.ts";
import { requireUser } from "../../user/index.ts";
import { projectGrants, requireProjectGrant } from "../project-grant/project-grant.ts";
import { requireRolesOfProject } from "../role/queries.ts";
import { requireKeys, withoutKeys } from "../role/role.ts";
import { grantContexts, ownedIn } from "./grant-context.ts";
import { userGrantQueries } from "./queries.ts";
import { userGrants } from "./user-grant.ts";

type Service = typeof UserGrantService;

export function userGrantAuthorize(deps: Deps): Authorize<Service> {
  const { tenancy } = deps;
  const queries = userGrantQueries(deps);
  const contextOf = grantContexts(deps);
  const ownedProject = projectOwnership(deps);
  return {
    ...authorizeById(UserGrantService, async ({ id }, scope) => {
      const row = await queries.find(scope.instanceId, id);
      const owned = row && { ...ownedIn(row), userId: row.userId };
      await tenancy.require(scope, owned, userGrants.missing);
    }),
    async createUserGrant({ userGrant: wanted }, scope) {
      if (wanted === undefined) throw new Error("validation requires the user grant");
      const grantContext = await contextOf(scope, wanted);
      const owned =
        grantContext.projectGrantId === ""
          ? await ownedProject(scope.instanceId, grantContext.projectId)
          : ownedIn(grantContext);
      const missing =
        wanted.projectGrantId === undefined ? projects.missing : projectGrants.missing;
      await tenancy.require(scope, owned, missing);
    },
  };
}

export function userGrantHandlers(deps: Deps): Handlers<Service> {
  const { db, newId } = deps;
  const answer = answering(deps);
  const change = changing(deps, userGrants.aggregate);
  const contextOf = grantContexts(deps);

  return {
    ...plainHandlers(deps, UserGrantService, userGrants, {
      methods: [
        ...(["activateUserGrant", "deactivateUserGrant", "deleteUserGrant"] as const),
        ...(["getUserGrant", "searchUserGrants"] as const),
      ],
      queries: userGrantQueries(deps),
      // Roles that the owner of the project granted have no project grant.
      fieldsOf(row) {
        const { projectGrantId, ...fields } = userGrants.fieldsOf(row);
        return projectGrantId === "" ? fields : { ...fields, projectGrantId };
      },
    }),

    async createUserGrant({ userGrant: wanted }, scope) {
      if (wanted === undefined) throw new Error("validation requires the user grant");
      const { userId, roleKeys } = wanted;
      const { organizationId, ...grantContext } = await contextOf(scope, wanted);
      return answer(writeContext(scope), async (tx) => {
        await requireProject(tx, grantContext.projectId);
        await requireUser(tx, userId);
        await requireRoles(tx, scope, grantContext, roleKeys);
        const loaded = tx.begin(userGrants.aggregate, newId());
        const added = userGrants.add(loaded.state, { userId, ...grantContext, roleKeys });
        tx.record(userGrants.aggregate, loaded, added, { type: "org", id: organizationId });
        return { written: tx.written(loaded) };
      });
    },

    patchUserGrant({ id, userGrant: patch }, scope) {
      const roleKeys = patch?.roleKeys ?? [];
      return change(scope, id, async (state, tx) => {
        const changed = userGrants.patch(state, { roleKeys });
        if (state !== undefined && changed.length > 0) {
          await requireRoles(tx, scope, state, withoutKeys(roleKeys, state.roleKeys));
        }
        return changed;
      });
    },
  };

  // What the owner of a project grants are its roles; what another organization grants are those that it was given.
  async function requireRoles(
    tx: Transaction,
    { instanceId }: Scope,
    { projectId, projectGrantId }: { projectId: string; projectGrantId: string },
    keys: readonly string[],
  ) {
    const field = "user_grant.role_keys";
    if (projectGrantId === "") {
      await requireRolesOfProject(db, tx, instanceId, projectId, keys, field);
      return;
    }
    const { roleKeys } = await requireProjectGrant(tx, projectGrantId);
    requireKeys(keys, roleKeys, field, "the project grant");
  }
}
