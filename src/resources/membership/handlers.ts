import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  GetMembershipSchema,
  MembershipContextSchema,
} from "#gen/idsvc/resources/membership/v3alpha/membership_pb.ts";
import type { MembershipService } from "#gen/idsvc/resources/membership/v3alpha/membership_service_pb.ts";
import { isOfService, type Scope, writeContext } from "../../authz/context.ts";
import { writesOwnAccount } from "../../authz/limited.ts";
import { coversEverybody } from "../../authz/holds.ts";
import { permissionsFrom } from "../../authz/permissions.ts";
import { memberPermission, rolesOf } from "../../authz/roles.ts";
import { cachedResponse } from "../../authz/response-cache.ts";
import type { Authorize, Handlers } from "../../authz/service.ts";
import type { OwnerRef } from "../../eventstore/event.ts";
import type { Loaded } from "../../eventstore/eventstore.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { listing } from "../object/queries.ts";
import { toDetails } from "../object/details.ts";
import { callerId, mayOn } from "../../authz/tenancy.ts";
import { permissionMissing } from "../../authz/permissions.ts";
import { requireUser, type UserHold } from "../user/index.ts";
import { createContexts } from "./context.ts";
import type { MemberContext } from "./events.ts";
import {
  acceptMember,
  addMember,
  changeRoles,
  lostRoles,
  type Membership,
  membership,
  membershipNotFound,
  newRoles,
  resourceScopeOf,
  removeMember,
  requireMayGive,
  requireMayTake,
} from "./membership.ts";
import { newPower } from "./new-power.ts";
import { powerReader } from "./power.ts";
import { type MembershipRow, membershipQueries } from "./queries.ts";

type Service = typeof MembershipService;

/** Who may do this to the members of a context. */
const mayIn = (scope: Scope, context: MemberContext, verb: "read" | "write" | "delete") =>
  scope.permissions.holds(memberPermission(context.type, verb), resourceScopeOf(context));

export function membershipAuthorize(deps: Deps): Authorize<Service> {
  const { tenancy } = deps;
  const queries = membershipQueries(deps, createContexts(deps).keyOf);
  const powers = powerReader(deps.db);
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
      if (verb !== "read" && mayIn(scope, context, verb)) {
        await tenancy.requireOwnProjectRight(scope, projectOf(context));
        return;
      }
      const isOwn = row.userId === callerId(scope);
      if (!isOwn && !mayIn(scope, context, "read")) throw membershipNotFound();
      if (verb !== "read") throw permissionMissing(memberPermission(context.type, verb));
    };
  /** The user, and who may write users where the user belongs. */
  const ofUser = async ({ id }: { id: string }, scope: Scope) => {
    const row = await queries.find(scope.instanceId, id);
    if (row === undefined) throw membershipNotFound();
    if (row.userId === callerId(scope) && writesOwnAccount(scope.caller)) return;
    const { organizationId } = await powers.ofUser(scope.instanceId, row.userId);
    if (organizationId !== "" && mayOn(scope, scope.policy.act, { organizationId })) return;
    if (!mayIn(scope, contextOf(row), "read")) throw membershipNotFound();
    throw permissionMissing(scope.policy.act);
  };
  return {
    acceptMembership: ofUser,
    declineMembership: ofUser,
    getMembership: needs("read"),
    patchMembership: needs("write"),
    deleteMembership: needs("delete"),
  };
}

const projectOf = (context: MemberContext): string | undefined =>
  "projectId" in context ? context.projectId : undefined;

export function membershipHandlers(deps: Deps): Handlers<Service> {
  const { events, newId } = deps;
  const contexts = createContexts(deps);
  const { tenancy } = deps;
  const queries = membershipQueries(deps, contexts.keyOf);
  const powers = powerReader(deps.db);
  const meet = newPower(deps);
  const responseOf = cachedResponse((row: MembershipRow) => ({
    membership: toGetMembership(row),
  }));

  return {
    async createMembership({ membership: wanted, keepHolds }, scope) {
      if (wanted === undefined) throw new Error("validation requires the membership");
      const context = await contexts.resolve(scope, wanted.ctx);
      if (!mayIn(scope, context, "write")) {
        throw permissionMissing(memberPermission(context.type, "write"));
      }
      await tenancy.requireOwnProjectRight(scope, projectOf(context));
      const { userId, roles } = wanted;
      const [written, holds] = await events.transact(writeContext(scope), async (tx) => {
        await contexts.require(tx, context);
        const { organizationId } = await requireUser(tx, userId);
        const loaded = tx.begin(membership, newId());
        const isElsewhere =
          "organizationId" in context && context.organizationId !== organizationId;
        const isPending = isElsewhere && !coversEverybody(scope.permissions);
        const given = { userId, roles, context, ...(isPending ? { isPending } : {}) };
        const added = addMember(loaded.state, given);
        requireMayGive(scope.permissions, context, roles);
        tx.record(membership, loaded, added, ownerOf(context, scope));
        const met = isPending ? [] : await meet(tx, scope.instanceId, loaded.state, keepHolds);
        return [tx.written(loaded), met];
      });
      return { details: toDetails(written()), holds: holds.map(toUserHold) };
    },

    async patchMembership({ id, membership: patch, keepHolds }, scope) {
      const roles = patch?.roles ?? [];
      const [written, holds] = await events.transact(writeContext(scope), async (tx) => {
        const loaded = await tx.load(membership, id);
        const before = loaded.state;
        tx.record(membership, loaded, changeRoles(before, roles));
        if (before === undefined) throw membershipNotFound();
        const more = newRoles(before, roles);
        requireMayGive(scope.permissions, before.context, more);
        requireMayTake(scope.permissions, before.context, lostRoles(before, roles));
        const isPower = before.isAccepted && more.length > 0;
        return [
          tx.written(loaded),
          isPower ? await meet(tx, scope.instanceId, loaded.state, keepHolds) : [],
        ];
      });
      return { details: toDetails(written()), holds: holds.map(toUserHold) };
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

    async acceptMembership({ id }, scope) {
      const [written, holds] = await events.transact(writeContext(scope), async (tx) => {
        const loaded = await tx.load(membership, id);
        tx.record(membership, loaded, acceptMember(loaded.state));
        await requireGiver(tx, scope, loaded);
        return [tx.written(loaded), await meet(tx, scope.instanceId, loaded.state, [])];
      });
      return { details: toDetails(written()), holds: holds.map(toUserHold) };
    },

    async declineMembership({ id }, scope) {
      const written = await events.transact(writeContext(scope), async (tx) => {
        const loaded = await tx.load(membership, id);
        tx.record(membership, loaded, removeMember(loaded.state));
        return tx.written(loaded);
      });
      return { details: toDetails(written()) };
    },

    async getMembership({ id }, { instanceId }) {
      const row = await queries.find(instanceId, id);
      if (row === undefined) throw membershipNotFound();
      return responseOf(row);
    },

    searchMemberships: listing(queries.search, toGetMembership),

    async listAvailableRoles({ ctx }, scope) {
      const context = await contexts.resolve(scope, ctx);
      return { roles: rolesOf(context.type) };
    },
  };

  /** Whoever gave the roles last must still cover them when they take effect (J2). */
  async function requireGiver(
    tx: Transaction,
    { instanceId }: Scope,
    { id, state }: Loaded<Membership | undefined>,
  ): Promise<void> {
    if (state === undefined) throw membershipNotFound();
    const history = await events.read({ instanceId, aggregate: { type: membership.type, id } });
    const { editorId = "" } = history.findLast(({ type }) => /\.(added|changed)$/.test(type)) ?? {};
    if (await isOfService(tx, editorId)) return;
    const giver = await powers.holdUser(tx, instanceId, editorId);
    requireMayGive(permissionsFrom(giver.memberships), state.context, state.roles);
  }
}

const toUserHold = ({ id, makerId, createdAt, isKept }: UserHold) => ({
  ...{ id, makerId },
  creationDate: timestampFromDate(createdAt),
  kept: isKept,
});

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
  const { userId, roles, isAccepted: accepted } = row;
  return {
    details: toDetails({ ...row, owner }),
    membership: { ctx: { context: toContext(context, row) }, userId, roles },
    accepted,
  };
}
