import { ManagementService } from "#gen/idsvc/management/v1/management_service_pb.ts";
import { importOf, ofService, type Sample, tooLong, tooLongId, type World } from "./sample.ts";

const person = (name: string) => ({
  user_name: name,
  profile: { first_name: "Ada", last_name: "Lovelace" },
  email: { email: "ada@example.test", is_email_verified: true },
});

let granted: Promise<{ project_id: string; grant_id: string }> | undefined;

async function grant({ make, name }: World) {
  const project_id = await make("/projects", { name: name() });
  const granted_organization_id = await make("/organizations", { name: name() });
  const grant_id = await make("/project_grants", {
    project_id,
    granted_organization_id,
    role_keys: [],
  });
  return { project_id, grant_id };
}

let ended: Promise<string> | undefined;

const ofImport = (make: (world: World) => Promise<string>, writes = true): Sample => ({
  valid: async (world) => ({ id: await make(world) }),
  invalid: tooLongId,
  unknown: { request: { id: "404" }, reason: "IMPORT_NOT_FOUND" },
  writes,
});

export const managementSamples: Record<string, Sample> = ofService(ManagementService.typeName, {
  SetUpOrg: {
    valid: ({ name }) => ({ org: { name: name() }, human: person(name()) }),
    invalid: {
      request: { org: { name: tooLong }, human: person("a") },
      field: "org.name",
    },
    unknown: undefined,
    writes: true,
  },
  ListProjectGrantChanges: {
    valid: async (world) => ({ ...(await (granted ??= grant(world))), query: { limit: 10 } }),
    invalid: { request: { project_id: tooLong, grant_id: "1" }, field: "project_id" },
    unknown: {
      request: { project_id: "404", grant_id: "404" },
      reason: "PROJECT_GRANT_NOT_FOUND",
    },
    writes: false,
  },
  Import: {
    valid: () => ({
      data: Buffer.from(JSON.stringify(importOf(1))).toString("base64"),
      await_response: false,
    }),
    invalid: { request: { timeout: "soon" }, field: "timeout" },
    unknown: undefined,
    writes: true,
  },
  GetImport: ofImport(async (world) => (ended ??= world.bring(1_000, "_cancel")), false),
  ListImports: {
    valid: () => ({ query: { limit: 5 }, filters: [{ state: { state: "IMPORT_STATE_PAUSED" } }] }),
    invalid: { request: { filters: [{ state: {} }] }, field: "filters[0].state.state" },
    unknown: undefined,
    writes: false,
  },
  PauseImport: ofImport((world) => world.bring(1_000)),
  ResumeImport: ofImport((world) => world.bring(1_000, "_pause")),
  CancelImport: ofImport((world) => world.bring(1_000)),
  ImportHumanUser: {
    valid: ({ name }) => person(name()),
    invalid: { request: { ...person("a"), user_name: tooLong }, field: "user_name" },
    unknown: undefined,
    writes: true,
  },
});
