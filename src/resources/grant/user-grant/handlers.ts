import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GetUserGrantSchema } from "#gen/idsvc/resources/grant/v3alpha/user_grant_pb.ts";
import type { UserGrantService } from "#gen/idsvc/resources/grant/v3alpha/user_grant_service_pb.ts";
import { type Scope, writeContext } from "../../../authz/context.ts";
import { cachedResponse } from "../../../authz/response-cache.ts";
import type { Authorize, Handlers } from "../../../authz/service.ts";
import { execute, type Transaction } from "../../../eventstore/transaction.ts";
import type { Deps } from "../../../projection/module.ts";
import { listing } from "../../object/queries.ts";
import { toDetails, toOrganizationOwnedDetails } from "../../object/details.ts";
import { toState } from "../../object/filters.ts";

import { projectNotFound, requireProject } from "../../project/index.ts";
import { ownedProjects } from "../project-grant/queries.ts";
import { requireUser } from "../../user/index.ts";
import { projectGrantNotFound, requireProjectGrant } from "../project-grant/project-grant.ts";
import { requireRolesOfProject } from "../require-roles.ts";
import { requireKeys, withoutKeys } from "../role/role.ts";
import type { UserGrantEvent } from "./events.ts";
import { grantContexts, ownedIn } from "./grant-context.ts";
import { type UserGrantRow, userGrantQueries } from "./queries.ts";
import {
  activateUserGrant,
  addUserGrant,
  changeUserRoles,
  deactivateUserGrant,
  removeUserGrant,
  userGrant,
  userGrantNotFound,
} from "./user-grant.ts";

type Service = typeof UserGrantService;

export function userGrantAuthorize(deps: Deps): Authorize<Service> {
  const { tenancy } = deps;
  const queries = userGrantQueries(deps);
  const contextOf = grantContexts(deps);
  const ownedProject = ownedProjects(deps.db);
  const named = async ({ id }: { id: string }, scope: Scope) => {
    const row = await queries.find(scope.instanceId, id);
    const owned = row && { ...ownedIn(row), userId: row.userId };
    await tenancy.require(scope, owned, userGrantNotFound);
  };
  return {
    async createUserGrant({ userGrant: wanted }, scope) {
      if (wanted === undefined) throw new Error("validation requires the user grant");
      const grantContext = await contextOf(scope, wanted);
      const owned =
        grantContext.projectGrantId === ""
          ? await ownedProject(scope.instanceId, grantContext.projectId)
          : ownedIn(grantContext);
      const missing = wanted.projectGrantId === undefined ? projectNotFound : projectGrantNotFound;
      await tenancy.require(scope, owned, missing);
    },
    patchUserGrant: named,
    deactivateUserGrant: named,
    activateUserGrant: named,
    deleteUserGrant: named,
    getUserGrant: named,
  };
}

export function userGrantHandlers(deps: Deps): Handlers<Service> {
  const { db, events, newId } = deps;
  const queries = userGrantQueries(deps);
  const responseOf = cachedResponse((row: UserGrantRow) => ({
    userGrant: toGetUserGrant(row),
  }));
  const contextOf = grantContexts(deps);

  return {
    async createUserGrant({ userGrant: wanted }, scope) {
      if (wanted === undefined) throw new Error("validation requires the user grant");
      const { userId, roleKeys } = wanted;
      const { organizationId, ...grantContext } = await contextOf(scope, wanted);
      const written = await events.transact(writeContext(scope), async (tx) => {
        await requireProject(tx, grantContext.projectId);
        await requireUser(tx, userId);
        await requireRoles(tx, scope, grantContext, roleKeys);
        const loaded = tx.begin(userGrant, newId());
        const added = addUserGrant(loaded.state, { userId, ...grantContext, roleKeys });
        tx.record(userGrant, loaded, added, { type: "org", id: organizationId });
        return tx.written(loaded);
      });
      return { details: toDetails(written()) };
    },

    async patchUserGrant({ id, userGrant: patch }, scope) {
      const roleKeys = patch?.roleKeys ?? [];
      return change(scope, id, async (state, tx) => {
        const changed = changeUserRoles(state, roleKeys);
        if (state !== undefined && changed.length > 0) {
          await requireRoles(tx, scope, state, withoutKeys(roleKeys, state.roleKeys));
        }
        return changed;
      });
    },

    async deactivateUserGrant({ id }, scope) {
      return change(scope, id, deactivateUserGrant);
    },

    async activateUserGrant({ id }, scope) {
      return change(scope, id, activateUserGrant);
    },

    async deleteUserGrant({ id }, scope) {
      return change(scope, id, removeUserGrant);
    },

    async getUserGrant({ id }, { instanceId }) {
      const row = await queries.find(instanceId, id);
      if (row === undefined) throw userGrantNotFound();
      return responseOf(row);
    },

    searchUserGrants: listing(queries.search, toGetUserGrant),
  };

  async function change(scope: Scope, id: string, decide: Decision) {
    const written = await execute(events.transact, writeContext(scope), userGrant, { id }, decide);
    return { details: toDetails(written) };
  }

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

type Decision = Parameters<typeof execute<typeof userGrant.initial, UserGrantEvent>>[4];

const toGetUserGrant = (row: UserGrantRow): MessageInitShape<typeof GetUserGrantSchema> => ({
  details: toOrganizationOwnedDetails(row),
  state: toState(row.state),
  userGrant: {
    userId: row.userId,
    projectId: row.projectId,
    ...(row.projectGrantId === "" ? {} : { projectGrantId: row.projectGrantId }),
    roleKeys: row.roleKeys,
  },
});
