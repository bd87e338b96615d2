import {
  ImportedProjectGrantSchema,
  ImportedRoleSchema,
  ImportedUserGrantSchema,
} from "#gen/idsvc/management/v1/data_pb.ts";
import { requireChosenId } from "../../authz/chosen-id.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import {
  addProjectGrant,
  projectGrants,
  requireKeys,
  roles,
  userGrants,
} from "../../resources/grant/index.ts";
import { requireOrganization } from "../../resources/org/index.ts";
import { projects } from "../../resources/project/index.ts";
import { requireUser } from "../../resources/user/index.ts";
import { columnsWhere } from "../../projection/rows.ts";
import { created, existed, kind, type Kind, type ImportContext, note } from "./kind.ts";
import { idTaken, requireOwnProject } from "./own-project.ts";

/** Roles of projects, to whom projects are granted, and who is granted roles. */
export const grantKinds = (deps: Deps): Kind[] => [
  roleKind(deps),
  projectGrantKind,
  userGrantKind(deps),
];

const roleKind = ({ newId }: Deps): Kind =>
  kind("projectRoles", {
    type: ImportedRoleSchema,
    idOf: ({ projectId, roleKey }) => `${projectId}/${roleKey}`,
    refs: ({ projectId }, orgId) => [
      { type: "organization", id: orgId },
      { type: "project", id: projectId },
    ],
    begin:
      ({ projectId, roleKey: key, displayName, group }, importContext) =>
      async (tx) => {
        const { orgId, known } = importContext;
        await requireOwnProject(tx, projectId, importContext);
        if ((await known.roleKeys(projectId, [key])).length > 0) return existed;
        const loaded = tx.begin(roles.aggregate, newId());
        const added = roles.add(loaded.state, { projectId, key, displayName, group });
        tx.record(roles.aggregate, loaded, added, { type: "org", id: orgId });
        return created(note("role", `${projectId}/${key}`));
      },
  });

const projectGrantKind: Kind = kind("projectGrants", {
  type: ImportedProjectGrantSchema,
  idOf: ({ grantId }) => grantId,
  refs: ({ grantId, projectGrant: of }, orgId) => [
    { type: "organization", id: orgId },
    { type: "organization", id: of?.grantedOrgId ?? "" },
    { type: "project", id: of?.projectId ?? "" },
    { type: "projectGrant", id: grantId },
  ],
  begin:
    ({ grantId, projectGrant: wanted, inactive }, importContext) =>
    async (tx) => {
      const { orgId, known } = importContext;
      if (wanted === undefined) throw new Error("validation requires what is granted");
      const { projectId, grantedOrgId: grantedOrganizationId, roleKeys } = wanted;
      await requireOwnProject(tx, projectId, importContext);
      await requireOrganization(tx, grantedOrganizationId);
      const loaded = await tx.load(projectGrants.aggregate, grantId);
      if (loaded.state !== undefined) {
        const isSame =
          loaded.state.projectId === projectId &&
          loaded.state.grantedOrganizationId === grantedOrganizationId;
        if (!isSame) throw idTaken("PROJECT_GRANT_ID_TAKEN", "a project grant");
        return existed;
      }
      if (loaded.version > 0n) throw idTaken("PROJECT_GRANT_ID_TAKEN", "a project grant");
      requireChosenId(grantId, "grant_id", { allDigits: true });
      const keys = await known.roleKeys(projectId, roleKeys);
      requireKeys(roleKeys, keys, "project_grant.role_keys", "the project");
      const config = { projectId, grantedOrganizationId, roleKeys };
      const added = addProjectGrant(loaded.state, config);
      tx.record(projectGrants.aggregate, loaded, added, { type: "org", id: orgId });
      if (inactive)
        tx.record(projectGrants.aggregate, loaded, projectGrants.deactivate(loaded.state));
      return created(note("projectGrant", grantId, { orgId }));
    },
});

/** Roles that the organization grants to users, of its own projects or of those that were granted to it. */
const userGrantKind = ({ newId }: Deps): Kind =>
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
  });

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

/** Which of these roles of a project the store has; each is read once. */
export function roleReader(db: Deps["db"], instanceId: string) {
  const read = new Map<string, boolean>();
  return async (projectId: string, keys: readonly string[]): Promise<ReadonlySet<string>> => {
    const nameOfRole = (key: string) => `${projectId}/${key}`;
    const unknown = keys.filter((key) => !read.has(nameOfRole(key)));
    if (unknown.length > 0) {
      const wanted = { instanceId, projectId, key: unknown };
      const rows = await columnsWhere(db, roles.table, ["key"], wanted);
      const found = new Set(rows.map(({ key }) => key));
      for (const key of unknown) read.set(nameOfRole(key), found.has(key));
    }
    return new Set(keys.filter((key) => read.get(nameOfRole(key)) === true));
  };
}
