import { DomainService } from "#gen/idsvc/resources/domain/v3alpha/domain_service_pb.ts";
import { ofService, onId, type Sample, tooLong, type World } from "./sample.ts";

const unknown = "DOMAIN_NOT_FOUND";
const nameOf = ({ name }: World) => `${name().replaceAll(" ", "-")}.domain.test`;
const dns = "DOMAIN_VALIDATION_TYPE_DNS";

const inOrganization = (world: World, more: { validation_type?: string } = {}) =>
  world.make(`/domains?ctx.org_id=${world.organizationId}`, { name: nameOf(world), ...more });
/** The TXT records that the samples need: the service of the matrix asks these instead of the DNS. */
export const txtRecords = new Map<string, string[]>();

async function provable(world: World): Promise<string> {
  const wanted = { name: nameOf(world), validation_type: dns };
  const path = `/domains?ctx.org_id=${world.organizationId}`;
  const { details, validation } = Object(await world.answer(path, wanted));
  txtRecords.set(validation.record, [validation.token]);
  return details.id;
}

const unproven = (world: World) => inOrganization(world, { validation_type: dns });
const open = { stranger: { code: 5, reason: unknown } };

export const domainSamples: Record<string, Sample> = ofService(DomainService.typeName, {
  CreateDomain: {
    valid: (world) => ({ domain: { name: nameOf(world) } }),
    invalid: { request: { domain: { name: "not a domain" } }, field: "domain.name" },
    unknown: undefined,
    writes: true,
    stranger: { code: 7, reason: "PERMISSION_MISSING" },
  },
  PatchDomain: {
    valid: async (world) => ({ id: await unproven(world), domain: { validation_type: dns } }),
    invalid: { request: { id: "1", domain: {} }, field: "domain.validation_type" },
    unknown: { request: { id: "404", domain: { validation_type: dns } }, reason: unknown },
    writes: true,
    ...open,
  },
  Validate: { ...onId(unknown, provable), ...open },
  SetAsPrimary: { ...onId(unknown, inOrganization), ...open },
  DeleteDomain: { ...onId(unknown, unproven), ...open },
  GetDomain: { ...onId(unknown, inOrganization, false), ...open },
  SearchDomains: {
    valid: ({ organizationId }) => ({
      sorting_column: "DOMAIN_FIELD_NAME_NAME",
      filters: [{ organization: { org_id: organizationId } }, { verified: { is_verified: true } }],
      query: { asc: true, limit: 1 },
    }),
    invalid: { request: { filters: [{ name: { name: tooLong } }] }, field: "filters[0].name.name" },
    unknown: undefined,
    writes: false,
    stranger: "answered",
  },
});
