import type { UserDeps } from "../../resources/user/index.ts";
import {
  ImportedGrantMemberSchema,
  ImportedOrgMemberSchema,
  ImportedProjectMemberSchema,
} from "#gen/idsvc/management/v1/data_pb.ts";
import { requireRoles } from "../../authz/roles.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import { projectGrants } from "../../resources/grant/index.ts";
import {
  addMember,
  claimOf,
  type MemberContext,
  type Membership,
  membership,
  membershipClaim,
  newPower,
} from "../../resources/membership/index.ts";
import { requireOrganization } from "../../resources/org/index.ts";
import { requireUser } from "../../resources/user/index.ts";
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

type Below = Exclude<MemberContext, { type: "system" | "instance" }>;

/** Users with roles in an organization, in its projects, and in those that were granted to it. */
export const memberKinds = (deps: UserDeps): Kind[] => {
  const { newId } = deps;
  const meet = newPower(deps);
  /** A user who was there before comes to power (J20). */
  const give = async (
    tx: Transaction,
    importContext: ImportContext,
    member: Given,
  ): Promise<Made> => {
    const given = await addMemberOf(tx, importContext, newId, member);
    if (given === undefined) return existed;
    await meet(tx, importContext.instanceId, given, []);
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

type Given = { userId: string; roles: string[]; context: Below };

/**
 * Makes a user a member; undefined where they are one, whose roles stay as they are.
 *
 * @throws NOT_FOUND USER_NOT_FOUND, INVALID_ARGUMENT ROLE_UNKNOWN
 */
export async function addMemberOf(
  tx: Transaction,
  { orgId, known }: ImportContext,
  newId: () => string,
  member: Given,
  field = "roles",
): Promise<Membership | undefined> {
  requireRoles(member.context.type, member.roles, field);
  await requireUser(tx, member.userId);
  const loaded = tx.begin(membership, newId());
  const added = addMember(loaded.state, member);
  const claim = claimOf(member.context, member.userId);
  if (await known.isClaimed(membershipClaim, claim)) return undefined;
  tx.record(membership, loaded, added, { type: "org", id: orgId });
  return loaded.state;
}
