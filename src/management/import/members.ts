import { type UserDeps, requireUser } from "../../resources/user/index.ts";
import {
  ImportedGrantMemberSchema,
  ImportedOrgMemberSchema,
  ImportedProjectMemberSchema,
} from "#gen/idsvc/management/v1/data_pb.ts";
import type { MemberContext } from "../../authz/permissions.ts";
import type { MakeMember, NewMember } from "../../authz/ports.ts";
import { requireRoles } from "../../authz/roles.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import { projectGrants } from "../../resources/grant/index.ts";
import { requireOrganization } from "../../resources/org/index.ts";
import {
  created,
  existed,
  kind,
  type Kind,
  type Made,
  type ImportContext,
  refsOfUser,
} from "./kind.ts";
import { requireOwnProject } from "./own-project.ts";

/** What imports ask of memberships. */
export type MemberPorts = {
  makeMember: MakeMember;
  members: {
    /** What is unique of a membership. */
    claim: { kind: string; valueOf(context: MemberContext, userId: string): string };
    /** Ends what others made on the account of a user whom roles bring to power (J20). */
    newPower(
      deps: UserDeps,
    ): (tx: Transaction, instanceId: string, given: NewMember, keep: []) => Promise<unknown>;
  };
};

/** Users with roles in an organization, in its projects, and in those that were granted to it. */
export const memberKinds = (deps: UserDeps, ports: MemberPorts): Kind[] => {
  const meet = ports.members.newPower(deps);
  /** A user who was there before comes to power (J20). */
  const give = async (
    tx: Transaction,
    importContext: ImportContext,
    member: NewMember,
  ): Promise<Made> => {
    if (!(await addMemberOf(tx, importContext, ports, member))) return existed;
    await meet(tx, importContext.instanceId, member, []);
    return created();
  };
  return [
    kind("orgMembers", {
      type: ImportedOrgMemberSchema,
      idOf: ({ userId }) => userId,
      refs: ({ userId }, orgId) => refsOfUser(userId, orgId),
      begin:
        ({ userId, roles }, importContext) =>
        async (tx) => {
          await requireOrganization(tx, importContext.orgId);
          const context = { type: "organization", organizationId: importContext.orgId } as const;
          return give(tx, importContext, { userId, roles, context });
        },
    }),
    kind("projectMembers", {
      type: ImportedProjectMemberSchema,
      idOf: ({ projectId, userId }) => `${projectId}/${userId}`,
      refs: ({ projectId, userId }, orgId) => [
        ...refsOfUser(userId, orgId),
        { type: "project", id: projectId },
      ],
      begin:
        ({ projectId, userId, roles }, importContext) =>
        async (tx) => {
          await requireOwnProject(tx, projectId, importContext);
          const context = {
            type: "project",
            projectId,
            organizationId: importContext.orgId,
          } as const;
          return give(tx, importContext, { userId, roles, context });
        },
    }),
    kind("projectGrantMembers", {
      type: ImportedGrantMemberSchema,
      idOf: ({ grantId, userId }) => `${grantId}/${userId}`,
      refs: ({ projectId, grantId, userId }, orgId) => [
        ...refsOfUser(userId, orgId),
        { type: "project", id: projectId },
        { type: "projectGrant", id: grantId },
      ],
      begin:
        ({ projectId, grantId, userId, roles }, importContext) =>
        async (tx) => {
          await requireOrganization(tx, importContext.orgId);
          const { state } = await tx.load(projectGrants.aggregate, grantId);
          if (
            state?.projectId !== projectId ||
            state.grantedOrganizationId !== importContext.orgId
          ) {
            throw projectGrants.missing();
          }
          const context = {
            type: "projectGrant",
            grantId,
            projectId,
            organizationId: importContext.orgId,
          } as const;
          return give(tx, importContext, { userId, roles, context });
        },
    }),
  ];
};

/**
 * Makes a user a member; false where they are one, whose roles stay as they are.
 *
 * @throws NOT_FOUND USER_NOT_FOUND, INVALID_ARGUMENT ROLE_UNKNOWN
 */
export async function addMemberOf(
  tx: Transaction,
  { known }: ImportContext,
  { members: { claim }, makeMember }: MemberPorts,
  member: NewMember,
  field = "roles",
): Promise<boolean> {
  requireRoles(member.context.type, member.roles, field);
  await requireUser(tx, member.userId);
  if (await known.isClaimed(claim.kind, claim.valueOf(member.context, member.userId))) return false;
  makeMember(tx, member);
  return true;
}
