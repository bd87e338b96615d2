import { ImportedUserGrantSchema } from "#gen/idsvc/management/v1/data_pb.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { projectGrants, requireKeys, userGrants } from "../../resources/grant/index.ts";
import { requireOrganization } from "../../resources/org/index.ts";
import { projects } from "../../resources/project/index.ts";
import { requireUser } from "../../resources/user/index.ts";
import { created, existed, kind, type Kind, type ImportContext } from "./kind.ts";
import { requireOwnProject } from "./own-project.ts";

/** Roles that the organization grants to users, of its own projects or of those that were granted to it. */
export const grantKinds = ({ newId }: Deps): Kind[] => [
  kind("userGrants", {
    type: ImportedUserGrantSchema,
    idOf: ({ userId, projectId }) => `${userId}/${projectId}`,
    refs: ({ userId, projectId, projectGrantId }, orgId) => [
      { type: "organization", id: orgId },
      { type: "user", id: userId },
      { type: "project", id: projectId },
      { type: "projectGrant", id: projectGrantId },
    ],
    begin: (record, importContext) => async (tx) =>
      (await grantRoles(tx, importContext, newId, record)) ? created() : existed,
  }),
];

type Wanted = {
  userId: string;
  projectId: string;
  projectGrantId: string;
  roleKeys: string[];
  inactive?: boolean;
};

/**
 * Grants roles of a project to a user; false where they have a grant of it, which stays as it is.
 *
 * @throws NOT_FOUND PROJECT_NOT_FOUND, PROJECT_GRANT_NOT_FOUND, USER_NOT_FOUND
 * @throws INVALID_ARGUMENT ROLE_KEY_UNKNOWN
 */
export async function grantRoles(
  tx: Transaction,
  importContext: ImportContext,
  newId: () => string,
  { userId, projectId, projectGrantId, roleKeys, inactive = false }: Wanted,
): Promise<boolean> {
  const { orgId, known } = importContext;
  await requireUser(tx, userId);
  const available =
    projectGrantId === ""
      ? await keysOfOwn(tx, importContext, projectId, roleKeys)
      : await keysOfGranted(tx, importContext, projectId, projectGrantId);
  const where = projectGrantId === "" ? "the project" : "the project grant";
  requireKeys(roleKeys, available, "role_keys", where);
  const claim = `${userId}/${projectId}/${projectGrantId}`;
  if (await known.isClaimed(userGrants.claimKind, claim)) return false;
  const loaded = tx.begin(userGrants.aggregate, newId());
  const added = userGrants.add(loaded.state, { userId, projectId, projectGrantId, roleKeys });
  tx.record(userGrants.aggregate, loaded, added, { type: "org", id: orgId });
  if (inactive) tx.record(userGrants.aggregate, loaded, userGrants.deactivate(loaded.state));
  return true;
}

async function keysOfOwn(
  tx: Transaction,
  importContext: ImportContext,
  projectId: string,
  keys: string[],
) {
  await requireOwnProject(tx, projectId, importContext);
  return importContext.known.roleKeys(projectId, keys);
}

async function keysOfGranted(
  tx: Transaction,
  { orgId }: ImportContext,
  projectId: string,
  id: string,
) {
  await requireOrganization(tx, orgId);
  if ((await tx.load(projects.aggregate, projectId)).state === undefined) throw projects.missing();
  const { state } = await tx.load(projectGrants.aggregate, id);
  if (state?.projectId !== projectId || state.grantedOrganizationId !== orgId) {
    throw projectGrants.missing();
  }
  return state.roleKeys;
}
