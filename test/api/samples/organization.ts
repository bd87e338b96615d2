import { OrganizationService } from "#gen/idsvc/resources/org/v3alpha/organization_service_pb.ts";
import { ofService, onId, type Sample, tooLong, type World } from "./sample.ts";

const unknown = "ORGANIZATION_NOT_FOUND";
const newOrganization = ({ make, name }: World) => make("/organizations", { name: name() });
const inactive = async (world: World) => {
  const id = await newOrganization(world);
  await world.act(`/organizations/${id}/_deactivate`);
  return id;
};

export const organizationSamples: Record<string, Sample> = ofService(OrganizationService.typeName, {
  CreateOrganization: {
    valid: ({ name }) => ({ organization: { name: name() } }),
    invalid: { request: { organization: { name: "" } }, field: "organization.name" },
    unknown: undefined,
    writes: true,
  },
  PatchOrganization: {
    valid: async (world) => ({
      id: await newOrganization(world),
      organization: { name: world.name() },
    }),
    invalid: { request: { id: "1", organization: { name: tooLong } }, field: "organization.name" },
    unknown: { request: { id: "404", organization: { name: "x" } }, reason: unknown },
    writes: true,
  },
  DeactivateOrganization: onId(unknown, newOrganization),
  ActivateOrganization: onId(unknown, inactive),
  DeleteOrganization: onId(unknown, newOrganization),
  GetOrganization: onId(unknown, ({ organizationId }) => organizationId, false),
  SearchOrganizations: {
    valid: ({ organizationId }) => ({
      sorting_column: "ORGANIZATION_FIELD_NAME_NAME",
      filters: [{ in_ids: { ids: [organizationId] } }],
    }),
    invalid: {
      request: { filters: [{ name: { name: tooLong } }] },
      field: "filters[0].name.name",
    },
    unknown: undefined,
    writes: false,
  },
  SetAsInstanceDefault: onId(unknown, newOrganization),
  GetInstanceDefault: { valid: () => ({}), invalid: undefined, unknown: undefined, writes: false },
});
