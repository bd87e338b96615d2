import { ProjectService } from "#gen/idsvc/resources/project/v3alpha/project_service_pb.ts";
import { ofService, onId, type Sample, tooLong, type World } from "./sample.ts";

const unknown = "PROJECT_NOT_FOUND";
export const newProject = ({ make, name }: World) => make("/projects", { name: name() });
const inactive = async (world: World) => {
  const id = await newProject(world);
  await world.act(`/projects/${id}/_deactivate`);
  return id;
};

export const projectSamples: Record<string, Sample> = ofService(ProjectService.typeName, {
  CreateProject: {
    valid: ({ name }) => ({ project: { name: name(), role_assertion: true } }),
    invalid: { request: { project: { name: "" } }, field: "project.name" },
    unknown: {
      request: { project: { name: "x" }, ctx: { org_id: "404" } },
      reason: "ORGANIZATION_NOT_FOUND",
    },
    writes: true,
  },
  PatchProject: {
    valid: async (world) => ({ id: await newProject(world), project: { name: world.name() } }),
    invalid: { request: { id: "1", project: { name: tooLong } }, field: "project.name" },
    unknown: { request: { id: "404", project: { name: "x" } }, reason: unknown },
    writes: true,
  },
  DeactivateProject: onId(unknown, newProject),
  ActivateProject: onId(unknown, inactive),
  DeleteProject: onId(unknown, newProject),
  GetProject: onId(unknown, newProject, false),
  SearchProjects: {
    valid: ({ projectId }) => ({
      sorting_column: "PROJECT_FIELD_NAME_NAME",
      filters: [{ in_ids: { ids: [projectId] } }],
    }),
    invalid: {
      request: { filters: [{ name: { name: tooLong } }] },
      field: "filters[0].name.name",
    },
    unknown: undefined,
    writes: false,
  },
});
