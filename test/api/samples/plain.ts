import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { restPlaceOf } from "../../support/protocols.ts";
import { ofService, onId, type Sample, tooLong, type World } from "./sample.ts";

type Resource = { name: string; owner: "org" | "instance" };

const pascal = (name: string) =>
  name.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());

const methodsOf = ({ name }: Resource, { methods }: DescService) =>
  new Map<string, DescMethod>(
    methods.flatMap((method) => {
      const [, verb = "", of] = /^([A-Z][a-z]+)(\w+?)s?$/.exec(method.name) ?? [];
      return of === pascal(name) ? [[verb, method] as const] : [];
    }),
  );

/** Whether a service makes objects of a resource. */
export const makes = (service: DescService, resource: Resource): boolean =>
  methodsOf(resource, service).has("Create");

/** Samples of the plain methods of a declared resource with a name. */
export function plainSamples(resource: Resource, service: DescService): Record<string, Sample> {
  const { name, owner } = resource;
  const methods = methodsOf(resource, service);
  const create = methods.get("Create");
  if (create === undefined) throw new Error(`${service.typeName} does not make a ${name}`);
  const path = restPlaceOf(create).template.replace("/resources/v3alpha", "");
  const unknown = `${name.toUpperCase()}_NOT_FOUND`;
  const make = (world: World) => world.make(path, { name: world.name() });
  const inactive = async (world: World) => {
    const id = await make(world);
    await world.act(`${path}/${id}/_deactivate`);
    return id;
  };
  let found: Promise<string> | undefined;
  const sortable = `${name.toUpperCase()}_FIELD_NAME_NAME`;
  const elsewhere = { [name]: { name: "x" }, ctx: { org_id: "404" } };
  const byVerb: Record<string, Sample> = {
    Create: {
      valid: (world) => ({ [name]: { name: world.name() } }),
      invalid: { request: { [name]: { name: "" } }, field: `${name}.name` },
      unknown:
        owner === "instance" ? undefined : { request: elsewhere, reason: "ORGANIZATION_NOT_FOUND" },
      writes: true,
    },
    Patch: {
      valid: async (world) => ({ id: await make(world), [name]: { name: world.name() } }),
      invalid: { request: { id: "1", [name]: { name: tooLong } }, field: `${name}.name` },
      unknown: { request: { id: "404", [name]: { name: "x" } }, reason: unknown },
      writes: true,
    },
    Deactivate: onId(unknown, make),
    Activate: onId(unknown, inactive),
    Delete: onId(unknown, make),
    Get: onId(unknown, make, false),
    Search: {
      async valid(world) {
        found ??= make(world);
        return { sorting_column: sortable, filters: [{ in_ids: { ids: [await found] } }] };
      },
      invalid: {
        request: { filters: [{ name: { name: tooLong } }] },
        field: "filters[0].name.name",
      },
      unknown: undefined,
      writes: false,
    },
  };
  return ofService(
    service.typeName,
    Object.fromEntries(
      [...methods].map(([verb, method]) => {
        const sample = byVerb[verb];
        if (sample === undefined) throw new Error(`${method.name} needs a sample of its own`);
        return [method.name, sample];
      }),
    ),
  );
}
