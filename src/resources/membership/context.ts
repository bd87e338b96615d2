import { instanceOfHostOnly, contextInvalid } from "../../authz/tenancy.ts";
import type { MembershipContext } from "#gen/idsvc/resources/membership/v3alpha/membership_pb.ts";
import type { Scope } from "../../authz/context.ts";
import { knowsOrganization } from "../../authz/known.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { projectGrantReader, projectGrants, requireProjectGrant } from "../grant/index.ts";
import { instanceReader } from "../instance/index.ts";
import { organizationNotFound, requireOrganization } from "../org/index.ts";
import { projectNotFound, projectReader, requireProject } from "../project/index.ts";
import { columnsOf, type MemberContext } from "./member-context.ts";
import type { ContextKey } from "./queries.ts";

/** Finds the context that a request names, and keeps it there while something is written in it. */
export type Contexts = {
  /**
   * Without a context: the organization of the header, else the instance (B2).
   * @throws NOT_FOUND INSTANCE_NOT_FOUND, ORGANIZATION_NOT_FOUND, PROJECT_NOT_FOUND, PROJECT_GRANT_NOT_FOUND
   */
  resolve(scope: Scope, asked: MembershipContext | undefined): Promise<MemberContext>;
  keyOf(scope: Scope, context: MembershipContext): Promise<ContextKey>;
  require(tx: Transaction, context: MemberContext): Promise<void>;
};

export function createContexts({ db, organizations }: Deps): Contexts {
  const instances = instanceReader(db);
  const projects = projectReader(db);
  const grants = projectGrantReader(db);

  async function resolve(scope: Scope, asked: MembershipContext | undefined) {
    const { instanceId } = scope;
    const named = asked?.context;
    if (named === undefined) {
      return scope.context.type === "organization"
        ? ({ type: "organization", organizationId: scope.context.organizationId } as const)
        : ({ type: "instance" } as const);
    }
    switch (named.case) {
      case "system":
        return { type: "system" } as const;
      case "instanceId":
        if (named.value !== instanceId) throw instanceOfHostOnly();
        return { type: "instance" } as const;
      case "instanceDomain": {
        const found = await instances.byDomain(named.value.toLowerCase());
        if (found?.id !== instanceId) throw instanceOfHostOnly();
        return { type: "instance" } as const;
      }
      case "orgId":
      case "orgDomain": {
        const found =
          named.case === "orgId"
            ? await organizations.byId(instanceId, named.value)
            : await organizations.byDomain(instanceId, named.value.toLowerCase());
        if (found === undefined || !knowsOrganization(scope, found.id))
          throw organizationNotFound();
        return { type: "organization", organizationId: found.id } as const;
      }
      case "projectId": {
        const found = await projects.byId(instanceId, named.value);
        if (found === undefined || !knowsOrganization(scope, found.organizationId)) {
          throw projectNotFound();
        }
        const { organizationId } = found;
        return { type: "project", projectId: named.value, organizationId } as const;
      }
      case "projectGrantId": {
        const found = await grants.byId(instanceId, named.value);
        if (found === undefined) throw projectGrants.missing();
        const { id: grantId, projectId, grantedOrganizationId: organizationId } = found;
        const isKnown = [organizationId, found.organizationId].some((one) =>
          knowsOrganization(scope, one),
        );
        if (!isKnown) throw projectGrants.missing();
        return { type: "projectGrant", grantId, projectId, organizationId } as const;
      }
      default:
        throw contextInvalid("exactly one of its members must be set");
    }
  }

  return {
    resolve,
    keyOf: async (scope, asked) => columnsOf(await resolve(scope, asked), scope.instanceId),
    async require(tx, context) {
      if (context.type === "organization") await requireOrganization(tx, context.organizationId);
      if (context.type === "project") await requireProject(tx, context.projectId);
      if (context.type === "projectGrant") await requireProjectGrant(tx, context.grantId);
    },
  };
}
