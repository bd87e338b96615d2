import { InstanceService } from "#gen/idsvc/resources/instance/v3alpha/instance_service_pb.ts";
import { list, ofService, onId, type Sample, tooLong, type World } from "./sample.ts";

const unknown = "INSTANCE_NOT_FOUND";
const wanted = ({ name }: World) => ({
  name: name(),
  domain: `${name().replaceAll(" ", "-")}.test`,
  organization: { name: "First" },
  machine: { username: "owner", name: "Owner" },
});
const newInstance = (world: World) => world.make("/instances", wanted(world), "system");

const asSystem = (methods: Record<string, Sample>) =>
  Object.fromEntries(
    Object.entries(methods).map(([name, sample]): [string, Sample] => [
      name,
      { ...sample, caller: "system" },
    ]),
  );

export const instanceSamples: Record<string, Sample> = ofService(InstanceService.typeName, {
  GetOwnInstance: list,
  ...asSystem({
    CreateInstance: {
      valid: (world) => ({ instance: wanted(world) }),
      invalid: { request: { instance: { name: tooLong } }, field: "instance.name" },
      unknown: undefined,
      writes: true,
    },
    PatchInstance: {
      valid: async (world) => ({ id: await newInstance(world), instance: { name: world.name() } }),
      invalid: { request: { id: "1", instance: { name: "" } }, field: "instance.name" },
      unknown: { request: { id: "404", instance: { name: "x" } }, reason: unknown },
      writes: true,
    },
    DeleteInstance: onId(unknown, newInstance),
    GetInstance: onId(unknown, ({ instanceId }) => instanceId, false),
    SearchInstances: {
      valid: ({ instanceId }) => ({ filters: [{ in_ids: { ids: [instanceId] } }] }),
      invalid: { request: { filters: [{}] }, field: "filters[0].filter" },
      unknown: undefined,
      writes: false,
    },
    LimitInstance: {
      valid: async (world) => ({
        id: await newInstance(world),
        limits: { audit_log_retention: "3600s" },
      }),
      invalid: { request: { id: "1", limits: {} }, field: "limits" },
      unknown: { request: { id: "404", limits: { block: true } }, reason: unknown },
      writes: true,
    },
    BulkLimitInstances: {
      valid: async (world) => ({ limits: [{ id: await newInstance(world), block: false }] }),
      invalid: { request: { limits: [] }, field: "limits" },
      unknown: { request: { limits: [{ id: "404", block: true }] }, reason: unknown },
      writes: true,
    },
  }),
});
