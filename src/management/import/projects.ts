import { ImportedProjectSchema } from "#gen/idsvc/management/v1/data_pb.ts";
import type { Deps } from "../../projection/module.ts";
import { requireOrganization } from "../../resources/org/index.ts";
import { deactivateProject, projects } from "../../resources/project/index.ts";
import { created, existed, kind, type Kind, note } from "./kind.ts";
import { newIdGuard } from "./new-id.ts";
import { idTaken, ownerOf } from "./own-project.ts";

/** Projects. */
export const projectKind = (deps: Deps): Kind => {
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
