import assert from "node:assert/strict";
import { join } from "node:path";
import {
  ActionService,
  CreateTargetResponseSchema,
} from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { counterMark, type LoadSpec } from "./load/spec.ts";
import type { BenchCase } from "./measure.ts";
import { type Child, startServer } from "./process.ts";
import { openRaw } from "./raw-append.ts";
import { callGrpc, callJson, grpcSpec, restSpec } from "./requests.ts";
import type { Bench, RowPlan } from "./rows.ts";
import { newStore, type Store } from "./store.ts";

const concurrency = 32;
const url = "https://hooks.example.com/audit";
const path = "POST /resources/v3alpha/targets";
const floor = join(import.meta.dirname, "peers/floor-create.ts");

let checks = 0;
const checkName = () => `check ${checks++}`;
const config = (name: string) => ({
  name,
  rest_webhook: { url },
  timeout: "10s",
  interrupt_on_error: true,
});

/** CreateTarget at concurrency 32, every answer after its flush, beside raw SQLite behind a bare handler. */
export async function createBench(store: Store, service: Child): Promise<Bench> {
  await using running = new AsyncDisposableStack();
  const floorOf = async (mode: "each" | "grouped") => {
    const own = running.use(await newStore());
    const child = running.use(await startServer([floor, own.file, own.made.instance_id, mode]));
    return { store: own, child };
  };
  const [each, grouped] = [await floorOf("each"), await floorOf("grouped")];
  const { token } = store;
  const cases: BenchCase[] = [
    rest("CreateTarget REST", service, store, token),
    await grpc("CreateTarget gRPC", service, store, token),
    rest("FULL each", each.child, each.store),
    rest("FULL grouped", grouped.child, grouped.store),
  ];
  const rows: RowPlan[] = ["rest", "grpc"].map((protocol) => ({
    id: `create-${protocol}`,
    service: `CreateTarget ${protocol === "rest" ? "REST" : "gRPC"}`,
    peers: { "FULL each": "FULL each" },
    floor: "FULL grouped",
    waits: true,
  }));
  const held = running.move();
  return { cases, rows, [Symbol.asyncDispose]: () => held.disposeAsync() };
}

function rest(name: string, child: Child, store: Store, token?: string): BenchCase {
  const by = token === undefined ? {} : { token };
  const spec = (named: string, counted: boolean) =>
    restSpec(child.port, path, { ...by, body: config(named), counted, connections: concurrency });
  const verify = async () => {
    const { details } = await callJson(spec(checkName(), false));
    assert.ok(hasTarget(store, String(Object(details).id)), "the target is in the store");
  };
  return withConfirm(name, child, store, spec(`made ${counterMark}`, true), verify);
}

async function grpc(name: string, child: Child, store: Store, token: string): Promise<BenchCase> {
  const spec = (named: string, counted: boolean): LoadSpec =>
    grpcSpec(
      child.port,
      ActionService.method.createTarget,
      {
        target: {
          name: named,
          targetType: { case: "restWebhook", value: { url } },
          timeout: { seconds: 10n, nanos: 0 },
          executionType: { case: "interruptOnError", value: true },
        },
      },
      { token, counted, connections: 4, streams: concurrency / 4 },
    );
  const verify = async () => {
    const { message } = await callGrpc(spec(checkName(), false), CreateTargetResponseSchema);
    assert.ok(hasTarget(store, String(message.details?.id)), "the target is in the store");
  };
  return withConfirm(name, child, store, spec(`made ${counterMark}`, true), verify);
}

function withConfirm(
  name: string,
  { pid }: Child,
  store: Store,
  load: LoadSpec,
  verify: () => Promise<void>,
): BenchCase {
  let before = 0;
  return {
    name,
    pid,
    load,
    disk: store.dir,
    verify: async () => {
      await verify();
      before = countEvents(store);
    },
    confirm: async (requests) => {
      const made = countEvents(store) - before;
      assert.ok(made >= requests, `${requests} answers, but ${made} events are in the store`);
    },
  };
}

function readOne({ file }: Store, query: string, ...values: string[]): unknown {
  const db = openRaw(file);
  try {
    return db
      .prepare(query)
      .pluck()
      .get(...values);
  } finally {
    db.close();
  }
}

const countEvents = (store: Store) => Number(readOne(store, "SELECT sum(last) FROM sequences"));
const hasTarget = (store: Store, id: string) =>
  readOne(store, "SELECT 1 FROM targets WHERE id = ?", id) === 1 &&
  readOne(store, "SELECT 1 FROM events WHERE aggregate_id = ? AND type = 'target.added'", id) === 1;
