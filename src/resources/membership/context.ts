import { instanceOfHostOnly, contextInvalid } from "../../authz/tenancy.ts";
import type { MembershipContext } from "#gen/idsvc/resources/membership/v3alpha/membership_pb.ts";
import type { Scope } from "../../authz/context.ts";
import { knowsOrganization } from "../../authz/known.ts";
import type { MemberContext } from "../../authz/permissions.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { instanceReader } from "../instance/index.ts";
import { organizationNotFound, requireOrganization } from "../org/index.ts";
import { projectReader, projects, requireProject } from "../project/index.ts";
import { columnsOf } from "./member-context.ts";
import type { ContextKey } from "./queries.ts";

/** Finds the context that a request names, and keeps it there while something is written in it. */
export function createContexts({ db, organizations, projectGrants }: Deps) {
  const instances = instanceReader(db);
  const projectOf = projectReader(db).byId;

  /**
   * Without a context: the organization of the header, else the instance (B2).
   * @throws NOT_FOUND INSTANCE_NOT_FOUND, ORGANIZATION_NOT_FOUND, PROJECT_NOT_FOUND, PROJECT_GRANT_NOT_FOUND
   */
  async function resolve(
    scope: Scope,
    asked: MembershipContext | undefined,
  ): Promise<MemberContext> {
    const { instanceId } = scope;
    const named = asked?.context;
    if (named === undefined) {
      return scope.context.type === "organization"
        ? { type: "organization", organizationId: scope.context.organizationId }
        : { type: "instance" };
    }
    switch (named.case) {
      case "system":
        return { type: "system" };
      case "instanceId":
        if (named.value !== instanceId) throw instanceOfHostOnly();
        return { type: "instance" };
      case "instanceDomain": {
        const found = await instances.byDomain(named.value.toLowerCase());
        if (found?.id !== instanceId) throw instanceOfHostOnly();
        return { type: "instance" };
      }
      case "orgId":
      case "orgDomain": {
        const found =
          named.case === "orgId"
            ? await organizations.byId(instanceId, named.value)
            : await organizations.byDomain(instanceId, named.value.toLowerCase());
        if (found === undefined || !knowsOrganization(scope, found.id))
          throw organizationNotFound();
        return { type: "organization", organizationId: found.id };
      }
      case "projectId": {
        const found = await projectOf(instanceId, named.value);
        if (found === undefined || !knowsOrganization(scope, found.organizationId)) {
          throw projects.missing();
        }
        const { organizationId } = found;
        return { type: "project", projectId: named.value, organizationId };
      }
      case "projectGrantId": {
        const found = await projectGrants.byId(instanceId, named.value);
        if (found === undefined) throw projectGrants.missing();
        const { id: grantId, projectId, grantedOrganizationId: organizationId } = found;
        const isKnown = [organizationId, found.organizationId].some((one) =>
          knowsOrganization(scope, one),
        );
        if (!isKnown) throw projectGrants.missing();
        return { type: "projectGrant", grantId, projectId, organizationId };
      }
      default:
        throw contextInvalid("exactly one of its members must be set");
    }
  }

  return {
    resolve,
    keyOf: async (scope: Scope, asked: MembershipContext): Promise<ContextKey> =>
      columnsOf(await resolve(scope, asked), scope.instanceId),
    async require(tx: Transaction, context: MemberContext): Promise<void> {
      if (context.type === "organization") await requireOrganization(tx, context.organizationId);
      if (context.type === "project") await requireProject(tx, context.projectId);
      if (context.type === "projectGrant") await projectGrants.require(tx, context.grantId);
    },
  };
}
