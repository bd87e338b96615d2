// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { SearchTargetsRequestSchema } from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { WatchEventsRequestSchema } from "#gen/idsvc/resources/event/v3alpha/event_service_pb.ts";
import { startPeer } from "../support/peer.ts";
import { framed, type RawRequest } from "../support/wire.ts";

const lines: Record<string, unknown>[] = [];
const texts: string[] = [];
const service = await startPeer({
  log(text) {
    texts.push(text);
    lines.push(JSON.parse(text));
  },
});
after(() => service[Symbol.asyncDispose]());

const host = `localhost:${service.app.port}`;
const bearer = { host, authorization: `Bearer ${service.app.token}` };
const search = "/idsvc.resources.action.v3alpha.ActionService/SearchTargets";
const searched = toBinary(SearchTargetsRequestSchema, create(SearchTargetsRequestSchema));
const watch = "/idsvc.resources.event.v3alpha.EventService/WatchEvents";
const watched = toBinary(WatchEventsRequestSchema, create(WatchEventsRequestSchema));

const post = (path: string, type: string, body: Uint8Array | string = ""): RawRequest => ({
  path,
  headers: { ...bearer, "content-type": type },
  body,
});
const get = (path: string): RawRequest => ({ method: "GET", path, headers: bearer });

/** The line of the log that tells of the request with this id. */
const lineOf = (id: string | undefined) =>
  lines.filter(({ requestId, msg }) => requestId === id && (msg === "call" || msg === "request"));

const logged: [what: string, request: RawRequest, status: number][] = [
  ["REST", { ...post("/resources/v3alpha/targets/_search", "application/json", "[]") }, 200],
  ["a refused REST call", get("/resources/v3alpha/targets/1"), 404],
  ["Connect", post(search, "application/json", "{}"), 200],
  ["a refused Connect call", post(search, "application/json", "["), 400],
  ["gRPC-Web", post(search, "application/grpc-web+proto", framed(searched)), 200],
  ["gRPC", { ...post(search, "application/grpc+proto", framed(searched)), version: 2 }, 200],
  ["a refused gRPC call", { ...post(search, "application/grpc+proto", "x"), version: 2 }, 200],
  ["an OAuth endpoint", post("/oauth/v2/token", "application/x-www-form-urlencoded", "x=1"), 400],
  ["discovery over HTTP/2", { ...get("/.well-known/openid-configuration"), version: 2 }, 200],
  [
    "an endpoint on a host of nobody",
    { ...get("/oauth/v2/keys"), headers: { host: "nobody.example" } },
    404,
  ],
  [
    "a form of too many parameters",
    post("/oauth/v2/token", "application/x-www-form-urlencoded", "a&".repeat(2_000)),
    400,
  ],
  ["a file that is not there", get("/ui/login/assets/nothing"), 404],
];
const unlogged: [what: string, request: RawRequest][] = [
  ["a path of nothing", get("/nothing/here")],
  ["a wrong method", { ...get("/resources/v3alpha/targets/_search"), method: "PATCH" }],
  ["a probe", get("/readyz")],
  [
    "health over HTTP/2",
    {
      ...post("/grpc.health.v1.Health/Check", "application/grpc+proto", framed(new Uint8Array())),
      version: 2,
    },
  ],
  ["health over Connect", post("/grpc.health.v1.Health/Check", "application/json", "{}")],
];

const idOf = ({ headers }: { headers: Record<string, string> }): string => {
  const { "x-request-id": id } = headers;
  assert.match(id ?? "", /^[\w-]{12}-[0-9a-z]+$/);
  return id ?? "";
};

describe("the header x-request-id", () => {
  const seen = new Set<string>();
  for (const [what, request, status] of logged)
    it(`names in the answer of ${what} the line of the log, which tells the same status`, async () => {
      const answer = await service.peer.send(request);
      assert.equal(answer.status, status);
      const id = idOf(answer);
      assert.ok(!seen.has(id));
      seen.add(id);
      const [line, ...more] = lineOf(id);
      assert.deepEqual(more, []);
      assert.ok(line, "the request is in the log");
      if (line["msg"] === "request") assert.equal(line["status"], status);
    });
  for (const [what, request] of unlogged)
    it(`is in the answer of ${what} too`, async () => {
      idOf(await service.peer.send(request));
    });
  it("is in the head of a stream, before its end", async () => {
    for (const type of ["grpc-web+proto", "connect+proto"]) {
      const url = `${service.app.url}${watch}`;
      const headers = {
        authorization: bearer.authorization,
        "content-type": `application/${type}`,
      };
      const body = new Uint8Array(framed(watched));
      const answer = await fetch(url, { method: "POST", headers, body });
      const id = idOf({ headers: Object.fromEntries(answer.headers) });
      await answer.body?.cancel();
      assert.equal(lineOf(id).length, 1);
    }
  });
  it("is ours, whatever a client sends", async () => {
    const answer = await service.peer.send({
      ...get("/x"),
      headers: { ...bearer, "x-request-id": "mine" },
    });
    assert.notEqual(idOf(answer), "mine");
  });
  it("may be read by pages that may call", async () => {
    const origin = "https://page.example";
    const answer = await service.peer.send({ ...get("/oauth/v2/keys"), headers: { host, origin } });
    assert.match(answer.headers["access-control-expose-headers"] ?? "", /\bx-request-id\b/);
  });
});

describe("a line of the log", () => {
  it("has no key twice", () => {
    assert.ok(texts.length > logged.length);
    for (const text of texts) {
      const keys = topKeys(text);
      assert.deepEqual(keys, [...new Set(keys)], text);
    }
  });
  it("names the service of a call, and this service", () => {
    const [line] = lines.filter(({ msg }) => msg === "call");
    assert.deepEqual(
      [line?.["service"], line?.["rpcService"], line?.["method"]],
      ["idsvc", "idsvc.resources.action.v3alpha.ActionService", "SearchTargets"],
    );
  });
  it("tells why a request at an endpoint was refused", () => {
    const refused = lines.filter(({ msg, status }) => msg === "request" && status === 404);
    assert.deepEqual(refused.map(({ reason }) => reason).slice(0, 1), ["INSTANCE_UNKNOWN_HOST"]);
  });
});

/** The keys of an object as they are written: a parser would keep only the last of equal ones. */
function topKeys(json: string): string[] {
  const keys: string[] = [];
  let depth = 0;
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"\s*:?|[{}[\]]/g)) {
    if (token === "{" || token === "[") depth += 1;
    else if (token === "}" || token === "]") depth -= 1;
    else if (depth === 1 && token.endsWith(":")) keys.push(token);
  }
  return keys;
}
