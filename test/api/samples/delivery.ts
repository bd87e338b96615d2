import { once } from "node:events";
import { createServer } from "node:http";
import { DeliveryService } from "#gen/idsvc/resources/action/v3alpha/delivery_service_pb.ts";
import { condition } from "./action.ts";
import { ofService, type Sample, tooLongId, webhook, type World } from "./sample.ts";

let receiver: Promise<string> | undefined;

/** Where a target takes everything; it keeps no process alive. */
async function startReceiver(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on("end", () => response.end());
  });
  server.listen(0, "127.0.0.1").unref();
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address !== "object") throw new Error("it listens nowhere");
  return `http://127.0.0.1:${address.port}/`;
}

const targets = new WeakMap<World, Promise<string>>();

/** A delivery of an event that was taken, which can be repeated. */
async function delivered(world: World): Promise<string> {
  const { create, make, name, newTarget } = world;
  let making = targets.get(world);
  if (making === undefined) {
    const url = await (receiver ??= startReceiver());
    targets.set(world, (making = make("/targets", { name: name(), ...webhook(url) })));
  }
  const target = await making;
  const onTarget = { event: { event: "target.added" } };
  const id = await make("/executions", { condition: onTarget, targets: [target] });
  await newTarget();
  const filters = [{ target: { id: target } }, { state: { state: "DELIVERY_STATE_DELIVERED" } }];
  for (;;) {
    const [found] = Object(await create("/deliveries/_search", filters)).result;
    if (found?.execution_id === id) return String(found.id);
  }
}

export const deliverySamples: Record<string, Sample> = ofService(DeliveryService.typeName, {
  SearchDeliveries: {
    valid: () => ({
      query: { limit: 5 },
      filters: [{ in_ids: { ids: ["404"] } }, { trigger: { trigger: "DELIVERY_TRIGGER_TEST" } }],
    }),
    invalid: { request: { filters: [{ state: {} }] }, field: "filters[0].state.state" },
    unknown: undefined,
    writes: false,
  },
  RedeliverDelivery: {
    valid: async (world) => ({ id: await delivered(world) }),
    invalid: tooLongId,
    unknown: { request: { id: "404" }, reason: "DELIVERY_NOT_FOUND" },
    writes: true,
  },
  TestTarget: {
    valid: ({ targetId }) => ({ id: targetId }),
    invalid: tooLongId,
    unknown: { request: { id: "404" }, reason: "TARGET_NOT_FOUND" },
    writes: true,
  },
  MatchExecution: {
    valid: () => ({ condition }),
    invalid: { request: { condition: { function: "" } }, field: "condition.function" },
    unknown: {
      request: { condition: { function: "nothing" } },
      reason: "EXECUTION_CONDITION_UNKNOWN",
    },
    writes: false,
  },
});
