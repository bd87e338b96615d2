import type { JsonObject } from "@bufbuild/protobuf";
import { executionEvents } from "../../src/resources/action/execution/events.ts";
import { execution } from "../../src/resources/action/execution/execution.ts";
import { conditionId } from "../../src/resources/action/execution/condition.ts";
import { startReceiver } from "../executor/receiver.ts";
import type { BenchCase } from "./measure.ts";
import { callJson, restSpec } from "./requests.ts";
import type { Bench, RowPlan } from "./rows.ts";
import { newStore, startService, type Store, withKernel, writer } from "./store.ts";

const stored = 1_000;
const method = "/idsvc.resources.org.v3alpha.OrganizationService/GetOrganization";

/**
 * One call of an instance without executions, of one with 1,000 on other conditions, and of one with a webhook on
 * loopback before each call.
 */
export async function executionBench(): Promise<Bench> {
  await using running = new AsyncDisposableStack();
  const receiver = running.use(await startReceiver());
  const serve = async (name: string, prepare: (store: Store) => Promise<void>) => {
    const store = running.use(await newStore());
    await prepare(store);
    const { child } = await startService(store.dir);
    const service = running.use(child);
    const { token, made } = store;
    const path = `GET /resources/v3alpha/organizations/${made.organization_id}` as const;
    const load = restSpec(service.port, path, { token });
    const verify = async () => void (await callJson(load));
    return { store, service, case: { name, pid: service.pid, load, verify } satisfies BenchCase };
  };
  const bare = await serve("no execution", async () => {});
  const many = await serve(`${stored} executions`, seed);
  const hooked = await serve("a webhook", async () => {});
  const post = async (path: string, body: JsonObject) => {
    const { port } = hooked.service;
    const { token } = hooked.store;
    return callJson(restSpec(port, `POST /resources/v3alpha${path}`, { token, body }));
  };
  const hook = { name: "hook", rest_webhook: { url: receiver.url("/") } };
  const { details } = await post("/targets", hook);
  await post("/executions", {
    condition: { request: { method } },
    targets: [Object(details).id],
  });
  const row = (id: string, of: BenchCase): RowPlan => ({
    id,
    service: of.name,
    peers: { without: bare.case.name },
  });
  const held = running.move();
  return {
    cases: [bare.case, many.case, hooked.case],
    rows: [row("executions-stored", many.case), row("executions-webhook", hooked.case)],
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

async function seed({ dir, made }: Store): Promise<void> {
  await withKernel({ dir }, async ({ events }) => {
    await events.transact(writer(made.instance_id), async (tx) => {
      for (let n = 0; n < stored; n++) {
        const condition = { type: "event", scope: "event", value: `bench.${n}` } as const;
        const loaded = tx.begin(execution, conditionId(condition));
        const set = executionEvents.set({ condition, targets: [], includes: [] });
        tx.record(execution, loaded, [set], { type: "instance", id: made.instance_id });
      }
    });
  });
}
