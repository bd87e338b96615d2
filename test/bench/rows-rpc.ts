import assert from "node:assert/strict";
import { join } from "node:path";
import {
  ActionService,
  GetTargetResponseSchema,
  PatchTargetResponseSchema,
} from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { runLoad } from "./load/load.ts";
import type { LoadSpec } from "./load/spec.ts";
import type { BenchCase } from "./measure.ts";
import { type Child, startServer } from "./process.ts";
import { openRaw } from "./raw-append.ts";
import { call, callGrpc, callJson, connectSpec, grpcSpec, restSpec } from "./requests.ts";
import { type Bench, hello, type RowPlan } from "./rows.ts";
import type { Store } from "./store.ts";

const peer = (name: string) => join(import.meta.dirname, "peers", `${name}.ts`);
/** More than small caches of rows hold. */
export const manyTargets = 2_000;
const warmSeconds = 2;
const { getTarget, patchTarget } = ActionService.method;

/** GetTarget of one id and of many, PatchTarget without a change and ResolveFeatures, beside their peers and floors. */
export async function rpcBench(store: Store, service: Child): Promise<Bench> {
  await using running = new AsyncDisposableStack();
  const start = async (args: string[]) => running.use(await startServer(args));
  const servers = {
    hello: await start([peer("hello")]),
    express: await start([peer("express")]),
    connectGrpc: await start([peer("connect"), "h2"]),
    connectJson: await start([peer("connect"), "http1"]),
    connectValidated: await start([peer("connect"), "h2", "validated"]),
    grpcJs: await start([peer("grpc-js")]),
    floorGrpc: await start([peer("floor-grpc")]),
    floorJson: await start([peer("floor-json")]),
  };
  const { token } = store;
  const id = await someTarget(service.port, token);
  const target = `/resources/v3alpha/targets/${id}` as const;
  const timeout = { seconds: 10n, nanos: 0 };

  const grpc = (name: string, child: Child, withToken?: string) =>
    grpcGet(name, child, grpcSpec(child.port, getTarget, { id }, { ...tokenOf(withToken) }), id);
  const patch = (name: string, child: Child, withToken?: string) =>
    grpcPatch(
      name,
      child,
      grpcSpec(child.port, patchTarget, { id, target: { timeout } }, { ...tokenOf(withToken) }),
      id,
    );
  const json = (name: string, child: Child, load: LoadSpec): BenchCase => ({
    name,
    pid: child.pid,
    load,
    verify: async () => {
      const { target: found } = await callJson(load);
      assert.equal(Object(found).details.id, id);
    },
  });
  const features = restSpec(service.port, "GET /settings/v3alpha/features", { token });

  const cases: BenchCase[] = [
    textCase(hello, servers.hello),
    await grpc("GetTarget gRPC", service, token),
    await grpc("connect-node gRPC", servers.connectGrpc),
    await grpc("grpc-js", servers.grpcJs),
    await grpc("node:http2 gRPC", servers.floorGrpc),
    ...(await inTurn(service, store)),
    json("GetTarget Connect JSON", service, connectSpec(service.port, getTarget, { id }, token)),
    json(
      "connect-node JSON",
      servers.connectJson,
      connectSpec(servers.connectJson.port, getTarget, { id }),
    ),
    json(
      "node:http Connect JSON",
      servers.floorJson,
      connectSpec(servers.floorJson.port, getTarget, { id }),
    ),
    json("GetTarget REST", service, restSpec(service.port, `GET ${target}`, { token })),
    textCase("Express hello", servers.express),
    json("node:http JSON", servers.floorJson, restSpec(servers.floorJson.port, `GET ${target}`)),
    await patch("PatchTarget", service, token),
    await patch("connect-node validated", servers.connectValidated),
    {
      name: "ResolveFeatures REST",
      pid: service.pid,
      load: features,
      verify: async () => {
        const { settings } = await callJson(features);
        assert.ok(Object(settings).oidc_token_exchange !== undefined);
      },
    },
  ];
  const rows: RowPlan[] = [
    {
      id: "get-grpc",
      service: "GetTarget gRPC",
      peers: { "connect-node": "connect-node gRPC", "grpc-js": "grpc-js" },
      floor: "node:http2 gRPC",
    },
    {
      id: "get-many",
      service: "GetTarget gRPC of many ids",
      peers: { "one id": "GetTarget gRPC of one id" },
    },
    {
      id: "get-connect-json",
      service: "GetTarget Connect JSON",
      peers: { "connect-node": "connect-node JSON", Express: "Express hello" },
      floor: "node:http Connect JSON",
    },
    {
      id: "get-rest",
      service: "GetTarget REST",
      peers: { Express: "Express hello", "connect-node": "connect-node JSON" },
      floor: "node:http JSON",
    },
    {
      id: "patch-same",
      service: "PatchTarget",
      peers: { "connect-node": "connect-node validated" },
      floor: "node:http2 gRPC",
    },
    {
      id: "features-rest",
      service: "ResolveFeatures REST",
      peers: { Express: "Express hello" },
      floor: "node:http JSON",
    },
  ];
  const held = running.move();
  return { cases, rows, [Symbol.asyncDispose]: () => held.disposeAsync() };
}

/** A server that says hello. */
export const textCase = (name: string, { pid, port }: Child): BenchCase => ({
  name,
  pid,
  load: restSpec(port, "GET /"),
  verify: async () => {
    const { status, body } = await call(restSpec(port, "GET /"));
    assert.equal(`${status} ${body.toString()}`, "200 hello");
  },
});

const tokenOf = (token: string | undefined) => (token === undefined ? {} : { token });

async function someTarget(port: number, token: string): Promise<string> {
  const body = {
    name: "the target of the bench",
    rest_webhook: { url: "https://hooks.example.com/audit" },
    timeout: "10s",
    interrupt_on_error: true,
  };
  const { details } = await callJson(
    restSpec(port, "POST /resources/v3alpha/targets", { token, body }),
  );
  return String(Object(details).id);
}

async function grpcGet(
  name: string,
  { pid }: Child,
  load: LoadSpec,
  id: string,
): Promise<BenchCase> {
  const verify = async () => {
    const { message, bytes } = await callGrpc(load, GetTargetResponseSchema);
    assert.equal(message.target?.details?.id, id);
    return bytes;
  };
  return {
    name,
    pid,
    load: { ...load, answerBytes: await verify() },
    verify: async () => void (await verify()),
  };
}

/** GetTarget of many ids in turn, and of one, by the same generator. */
async function inTurn(service: Child, { file, token }: Store): Promise<BenchCase[]> {
  const db = openRaw(file);
  const read = db.prepare("SELECT id FROM targets WHERE name LIKE 'seeded %' LIMIT ?").pluck();
  const ids = read.all(manyTargets) as string[];
  db.close();
  assert.equal(ids.length, manyTargets);
  const [first = ""] = ids;
  const specOf = (id: string) => grpcSpec(service.port, getTarget, { id }, { token });
  const one = specOf(first);
  const bodiesOfMany = ids.map((id) => specOf(id).body);
  // The rows compare what is known: the first question about each is none of them.
  await runLoad({ ...one, bodies: bodiesOfMany }, warmSeconds);
  const caseOf = (name: string, bodies: string[]) =>
    grpcGet(name, service, { ...one, bodies }, first);
  return Promise.all([
    caseOf("GetTarget gRPC of many ids", bodiesOfMany),
    caseOf("GetTarget gRPC of one id", [one.body]),
  ]);
}

async function grpcPatch(
  name: string,
  { pid }: Child,
  load: LoadSpec,
  id: string,
): Promise<BenchCase> {
  const verify = async () => {
    const { message, bytes } = await callGrpc(load, PatchTargetResponseSchema);
    assert.equal(message.details?.id, id);
    return bytes;
  };
  return {
    name,
    pid,
    load: { ...load, answerBytes: await verify() },
    verify: async () => void (await verify()),
  };
}
