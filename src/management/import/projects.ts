import {
  ImportedProjectGrantSchema,
  ImportedProjectSchema,
  ImportedRoleSchema,
} from "#gen/idsvc/management/v1/data_pb.ts";
import { requireChosenId } from "../../authz/chosen-id.ts";
import type { Deps } from "../../projection/module.ts";
import { addProjectGrant, projectGrants, requireKeys, roles } from "../../resources/grant/index.ts";
import { requireOrganization } from "../../resources/org/index.ts";
import { deactivateProject, projects } from "../../resources/project/index.ts";
import { created, existed, kind, type Kind, note } from "./kind.ts";
import { appKinds } from "./apps.ts";
import { newIdGuard } from "./new-id.ts";
import { idTaken, ownerOf, requireOwnProject } from "./own-project.ts";

/** Projects, their roles and apps, and to whom they are granted. */
export const projectKinds = (deps: Deps): Kind[] => [
  projectKind(deps),
  roleKind(deps),
  ...appKinds(deps),
  projectGrantKind,
];

const projectKind = (deps: Deps): Kind => {
  const requireNewId = newIdGuard(deps);
  return kind("projects", {
    type: ImportedProjectSchema,
    idOf: ({ projectId }) => projectId,
    refs: ({ projectId }, orgId) => [
      { type: "organization", id: orgId },
      { type: "project", id: projectId, isNew: true },
    ],
    begin:
      ({ projectId, project: wanted, inactive }, importContext) =>
      async (tx) => {
        const { orgId, known } = importContext;
        await requireOrganization(tx, orgId);
        const loaded = await tx.load(projects.aggregate, projectId);
        if (
          loaded.state === undefined
            ? loaded.version > 0n
            : (await ownerOf(known, "project", loaded)) !== orgId
        ) {
          throw idTaken("PROJECT_ID_TAKEN", "a project");
        }
        if (loaded.state !== undefined) return existed;
        const named = { field: "project_id", taken: "PROJECT_ID_TAKEN" };
        await requireNewId(tx, importContext, projectId, named);
        const added = projects.add(loaded.state, {
          name: wanted?.name ?? "",
          roleAssertion: wanted?.projectRoleAssertion ?? false,
          authorizationRequired: wanted?.projectRoleCheck ?? false,
          projectAccessRequired: wanted?.hasProjectCheck ?? false,
        });
        tx.record(projects.aggregate, loaded, added, { type: "org", id: orgId });
        if (inactive) tx.record(projects.aggregate, loaded, deactivateProject(loaded.state, false));
        return created(note("project", projectId, { orgId }));
      },
  });
};

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
