import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  GetMembershipSchema,
  MembershipContextSchema,
} from "#gen/idsvc/resources/membership/v3alpha/membership_pb.ts";
import type { MembershipService } from "#gen/idsvc/resources/membership/v3alpha/membership_service_pb.ts";
import { type Scope, writeContext } from "../../authz/context.ts";
import { memberPermission, rolesOf } from "../../authz/roles.ts";
import { keptAnswer } from "../../authz/kept-answer.ts";
import type { Authorize, Handlers } from "../../authz/service.ts";
import type { OwnerRef } from "../../eventstore/event.ts";
import type { Deps } from "../../projection/module.ts";
import { toDetails, toListDetails } from "../object/details.ts";
import { toPage } from "../object/list.ts";
import { callerId, createTenancy, permissionMissing } from "../org/index.ts";
import { requireUser } from "../user/index.ts";
import { createContexts } from "./context.ts";
import type { MemberContext } from "./events.ts";
import {
  addMember,
  changeRoles,
  lostRoles,
  membership,
  membershipNotFound,
  newRoles,
  placeOf,
  removeMember,
  requireMayGive,
  requireMayTake,
} from "./membership.ts";
import { type MembershipRow, membershipQueries } from "./queries.ts";

type Service = typeof MembershipService;

/** Who may do this to the members of a context. */
const mayIn = (scope: Scope, context: MemberContext, verb: "read" | "write" | "delete") =>
  scope.permissions.holds(memberPermission(context.type, verb), placeOf(context));

export function membershipAuthorize(deps: Deps): Authorize<Service> {
  const tenancy = createTenancy(deps);
  const queries = membershipQueries(deps, tenancy, createContexts(deps).keyOf);
  const needs =
    (verb: "read" | "write" | "delete") =>
    async ({ id }: { id: string }, scope: Scope) => {
      const row = await queries.find(scope.instanceId, id);
      if (row === undefined) throw membershipNotFound();
      const { organizationId } = row;
      if (organizationId !== "") {
        const living = await deps.organizations.byId(scope.instanceId, organizationId);
        if (living === undefined) throw membershipNotFound();
      }
      const context = contextOf(row);
      if (verb !== "read" && mayIn(scope, context, verb)) return;
      const isOwn = row.userId === callerId(scope);
      if (!isOwn && !mayIn(scope, context, "read")) throw membershipNotFound();
      if (verb !== "read") throw permissionMissing(memberPermission(context.type, verb));
    };
  return {
    getMembership: needs("read"),
    patchMembership: needs("write"),
    deleteMembership: needs("delete"),
  };
}

export function membershipHandlers(deps: Deps): Handlers<Service> {
  const { events, newId } = deps;
  const contexts = createContexts(deps);
  const tenancy = createTenancy(deps);
  const queries = membershipQueries(deps, tenancy, contexts.keyOf);
  const told = keptAnswer((row: MembershipRow) => ({
    membership: toGetMembership(row),
  }));

  return {
    async createMembership({ membership: wanted }, scope) {
      if (wanted === undefined) throw new Error("validation requires the membership");
      const context = await contexts.resolve(scope, wanted.ctx);
      if (!mayIn(scope, context, "write")) {
        throw permissionMissing(memberPermission(context.type, "write"));
      }
      const { userId, roles } = wanted;
      const written = await events.transact(writeContext(scope), async (tx) => {
        await contexts.require(tx, context);
        await requireUser(tx, userId);
        const loaded = tx.begin(membership, newId());
        const added = addMember(loaded.state, { userId, roles, context });
        requireMayGive(scope.permissions, context, roles);
        tx.record(membership, loaded, added, ownerOf(context, scope));
        return tx.written(loaded);
      });
      return { details: toDetails(written()) };
    },

    async patchMembership({ id, membership: patch }, scope) {
      const roles = patch?.roles ?? [];
      const written = await events.transact(writeContext(scope), async (tx) => {
        const loaded = await tx.load(membership, id);
        const { state } = loaded;
        if (roles.length > 0) {
          tx.record(membership, loaded, changeRoles(state, roles));
          if (state !== undefined) {
            requireMayGive(scope.permissions, state.context, newRoles(state, roles));
            requireMayTake(scope.permissions, state.context, lostRoles(state, roles));
          }
        }
        return tx.written(loaded);
      });
      return { details: toDetails(written()) };
    },

    async deleteMembership({ id }, scope) {
      const written = await events.transact(writeContext(scope), async (tx) => {
        const loaded = await tx.load(membership, id);
        const { state } = loaded;
        if (state !== undefined) requireMayTake(scope.permissions, state.context, state.roles);
        tx.record(membership, loaded, removeMember(state));
        return tx.written(loaded);
      });
      return { details: toDetails(written()) };
    },

    async getMembership({ id }, { instanceId }) {
      const row = await queries.find(instanceId, id);
      if (row === undefined) throw membershipNotFound();
      return told(row);
    },

    async searchMemberships({ query, sortingColumn, filters }, scope) {
      const found = await queries.search(scope, { filters, sortingColumn, page: toPage(query) });
      const result = found.rows.map(toGetMembership);
      return { details: toListDetails(found), sortingColumn, result };
    },

    async listAvailableRoles({ ctx }, scope) {
      const context = await contexts.resolve(scope, ctx);
      return { roles: rolesOf(context.type) };
    },
  };
}

const ownerOf = (context: MemberContext, { instanceId }: Scope): OwnerRef => {
  if ("organizationId" in context) return { type: "org", id: context.organizationId };
  return context.type === "system"
    ? { type: "system", id: "" }
    : { type: "instance", id: instanceId };
};

function contextOf({ contextType, contextId, organizationId, projectId }: MembershipRow) {
  switch (contextType) {
    case "organization":
      return { type: "organization", organizationId } satisfies MemberContext;
    case "project":
      return { type: "project", projectId, organizationId } satisfies MemberContext;
    case "projectGrant":
      return {
        type: "projectGrant",
        grantId: contextId,
        projectId,
        organizationId,
      } satisfies MemberContext;
    default:
      return { type: contextType === "system" ? "system" : "instance" } satisfies MemberContext;
  }
}

function toContext(context: MemberContext, row: MembershipRow): Context {
  switch (context.type) {
    case "system":
      return { case: "system", value: true };
    case "instance":
      return { case: "instanceId", value: row.instanceId };
    case "organization":
      return { case: "orgId", value: context.organizationId };
    case "project":
      return { case: "projectId", value: context.projectId };
    case "projectGrant":
      return { case: "projectGrantId", value: context.grantId };
  }
}

type Context = NonNullable<MessageInitShape<typeof MembershipContextSchema>["context"]>;

function toGetMembership(row: MembershipRow): MessageInitShape<typeof GetMembershipSchema> {
  const context = contextOf(row);
  const owner: OwnerRef =
    row.organizationId === ""
      ? context.type === "system"
        ? { type: "system", id: "" }
        : { type: "instance", id: row.instanceId }
      : { type: "org", id: row.organizationId };
  const { userId, roles } = row;
  return {
    details: toDetails({ ...row, owner }),
    membership: { ctx: { context: toContext(context, row) }, userId, roles },
  };
}
