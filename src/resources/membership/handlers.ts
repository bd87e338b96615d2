import { type UserDeps, requireUser, type UserHold } from "../user/index.ts";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { GetMembershipSchema } from "#gen/idsvc/resources/membership/v3alpha/membership_pb.ts";
import type {
  MembershipService,
  RolePermissionsSchema,
} from "#gen/idsvc/resources/membership/v3alpha/membership_service_pb.ts";
import { isOfService, type Scope, writeContext } from "../../authz/context.ts";
import { writesOwnAccount } from "../../authz/limited.ts";
import { coversEverybody } from "../../authz/holds.ts";
import { permissionsFrom, type MemberContext, permissionMissing } from "../../authz/permissions.ts";
import {
  memberPermission,
  permissionsOf,
  permissionsOnInstance,
  rolesOf,
} from "../../authz/roles.ts";
import { cachedResponse } from "../../authz/response-cache.ts";
import type { Authorize, Handlers } from "../../authz/service.ts";
import type { Loaded } from "../../eventstore/eventstore.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import { answering, changing } from "../object/plain.ts";
import { listing } from "../object/queries.ts";
import { toDetails } from "../object/details.ts";
import { callerId, mayOn } from "../../authz/tenancy.ts";
import { createContexts } from "./context.ts";
import {
  acceptMember,
  addMember,
  changeRoles,
  lostRoles,
  type Membership,
  membership,
  membershipNotFound,
  newRoles,
  removeMember,
  requireMayGive,
  requireMayTake,
} from "./membership.ts";
import { contextOf, namedContext, ownerOf, resourceScopeOf } from "./member-context.ts";
import { newPower } from "./new-power.ts";
import { powerReader } from "./power.ts";
import { type MembershipRow, membershipQueries } from "./queries.ts";

type Service = typeof MembershipService;

/** Who may do this to the members of a context. */
const mayIn = (scope: Scope, context: MemberContext, verb: "read" | "write" | "delete") =>
  scope.permissions.holds(memberPermission(context.type, verb), resourceScopeOf(context));

export function membershipAuthorize(deps: UserDeps): Authorize<Service> {
  const { tenancy } = deps;
  const queries = membershipQueries(deps, createContexts(deps).keyOf);
  const powers = powerReader(deps);
  const needs =
    (verb: "read" | "write" | "delete") =>
    async ({ id }: { id: string }, scope: Scope) => {
      const row = await queries.get(scope.instanceId, id);
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
    const row = await queries.get(scope.instanceId, id);
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

export function membershipHandlers(deps: UserDeps): Handlers<Service> {
  const { newId, tenancy } = deps;
  const contexts = createContexts(deps);
  const queries = membershipQueries(deps, contexts.keyOf);
  const meet = newPower(deps);
  const answer = answering(deps);
  const change = changing(deps, membership);
  const requireGiver = giverCheck(deps);
  /** Answers roles that may bring power with what the user's holds come to. */
  const given = (tx: Transaction, loaded: Loaded<Membership | undefined>, holds: UserHold[]) => ({
    written: tx.written(loaded),
    holds: holds.map(toUserHold),
  });
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
      return answer(writeContext(scope), async (tx) => {
        await contexts.require(tx, context);
        const { organizationId } = await requireUser(tx, userId);
        const loaded = tx.begin(membership, newId());
        const isElsewhere =
          "organizationId" in context && context.organizationId !== organizationId;
        const isPending = isElsewhere && !coversEverybody(scope.permissions);
        const member = { userId, roles, context, ...(isPending ? { isPending } : {}) };
        const added = addMember(loaded.state, member);
        requireMayGive(scope.permissions, context, roles);
        tx.record(membership, loaded, added, ownerOf(context, scope.instanceId));
        const met = isPending ? [] : await meet(tx, scope.instanceId, loaded.state, keepHolds);
        return given(tx, loaded, met);
      });
    },

    async patchMembership({ id, membership: patch, keepHolds }, scope) {
      const roles = patch?.roles ?? [];
      return answer(writeContext(scope), async (tx) => {
        const loaded = await tx.load(membership, id);
        const before = loaded.state;
        tx.record(membership, loaded, changeRoles(before, roles));
        if (before === undefined) throw membershipNotFound();
        const more = newRoles(before, roles);
        requireMayGive(scope.permissions, before.context, more);
        requireMayTake(scope.permissions, before.context, lostRoles(before, roles));
        const isPower = before.isAccepted && more.length > 0;
        const met = isPower ? await meet(tx, scope.instanceId, loaded.state, keepHolds) : [];
        return given(tx, loaded, met);
      });
    },

    deleteMembership: ({ id }, scope) =>
      change(scope, id, (state) => {
        if (state !== undefined) requireMayTake(scope.permissions, state.context, state.roles);
        return removeMember(state);
      }),

    async acceptMembership({ id }, scope) {
      return answer(writeContext(scope), async (tx) => {
        const loaded = await tx.load(membership, id);
        tx.record(membership, loaded, acceptMember(loaded.state));
        await requireGiver(tx, scope, loaded);
        return given(tx, loaded, await meet(tx, scope.instanceId, loaded.state, []));
      });
    },

    declineMembership: ({ id }, scope) => change(scope, id, removeMember),

    getMembership: async ({ id }, { instanceId }) => responseOf(await queries.get(instanceId, id)),

    searchMemberships: listing(queries.search, toGetMembership),

    async listAvailableRoles({ ctx }, scope) {
      const roles = rolesOf((await contexts.resolve(scope, ctx)).type);
      return { roles, permissions: roles.map(toRolePermissions) };
    },
  };
}

/** Whoever gave the roles last must still cover them when they take effect (J2). */
function giverCheck(deps: UserDeps) {
  const { events } = deps;
  const powers = powerReader(deps);
  return async (tx: Transaction, { instanceId }: Scope, given: Loaded<Membership | undefined>) => {
    const { id, state } = given;
    if (state === undefined) throw membershipNotFound();
    const history = await events.read({ instanceId, aggregate: { type: membership.type, id } });
    const { editorId = "" } = history.findLast(({ type }) => /\.(added|changed)$/.test(type)) ?? {};
    if (await isOfService(tx, editorId)) return;
    const giver = await powers.holdUser(tx, instanceId, editorId);
    requireMayGive(permissionsFrom(giver.memberships), state.context, state.roles);
  };
}

function toRolePermissions(role: string): MessageInitShape<typeof RolePermissionsSchema> {
  const given = permissionsOf(role);
  return {
    role,
    permissions: [...given].toSorted(),
    onlyInOrganizations: [...given.difference(permissionsOnInstance(role))].toSorted(),
  };
}

const toUserHold = ({ id, makerId, createdAt, isKept }: UserHold) => ({
  id,
  makerId,
  creationDate: timestampFromDate(createdAt),
  kept: isKept,
});

function toGetMembership(row: MembershipRow): MessageInitShape<typeof GetMembershipSchema> {
  const { instanceId, userId, roles, isAccepted: accepted } = row;
  const context = contextOf(row);
  return {
    details: toDetails({ ...row, owner: ownerOf(context, instanceId) }),
    membership: { ctx: { context: namedContext(context, instanceId) }, userId, roles },
    accepted,
  };
}
