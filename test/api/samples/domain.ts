import { DomainService } from "#gen/idsvc/resources/domain/v3alpha/domain_service_pb.ts";
import { ofService, onId, type Sample, tooLong, type World } from "./sample.ts";

const unknown = "DOMAIN_NOT_FOUND";
const dns = "DOMAIN_VALIDATION_TYPE_DNS";
const domainName = ({ name }: World) => `${name().replaceAll(" ", "-")}.example`;
const at = ({ organizationId }: World) => `/domains?ctx.org_id=${organizationId}`;

const newDomain = (world: World) => world.make(at(world), { name: domainName(world) });
/** Waits for its proof, which is in place. */
const claimed = async (world: World) => {
  const wanted = { name: domainName(world), validation_type: dns };
  const { details, validation } = Object(await world.create(at(world), wanted));
  world.texts.set(validation.record, [validation.token]);
  return String(details.id);
};
const stranger = { code: 5, reason: unknown };
const onDomain = (make: (world: World) => Promise<string>, writes = true): Sample => ({
  ...onId(unknown, make, writes),
  stranger,
});

export const domainSamples: Record<string, Sample> = ofService(DomainService.typeName, {
  CreateDomain: {
    valid: (world) => ({ domain: { name: domainName(world) } }),
    invalid: { request: { domain: { name: "no name" } }, field: "domain.name" },
    unknown: {
      request: { ctx: { org_id: "404" }, domain: { name: "a.example" } },
      reason: "ORGANIZATION_NOT_FOUND",
    },
    writes: true,
  },
  PatchDomain: {
    valid: async (world) => ({
      id: await claimed(world),
      domain: { validation_type: "DOMAIN_VALIDATION_TYPE_HTTP" },
    }),
    invalid: { request: { id: "1", domain: {} }, field: "domain.validation_type" },
    unknown: { request: { id: "404", domain: { validation_type: dns } }, reason: unknown },
    writes: true,
    stranger,
  },
  Validate: onDomain(claimed),
  SetAsPrimary: onDomain(newDomain),
  DeleteDomain: onDomain(newDomain),
  GetDomain: onDomain(newDomain, false),
  SearchDomains: {
    valid: () => ({ filters: [{ name: { name: "localhost" } }] }),
    invalid: { request: { filters: [{ name: { name: tooLong } }] }, field: "filters[0].name.name" },
    unknown: { request: { ctx: { org_id: "404" } }, reason: "ORGANIZATION_NOT_FOUND" },
    writes: false,
    stranger: "answered",
  },
});
