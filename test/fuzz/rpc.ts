import { type DescMethod, fromJson, type JsonObject, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import type { OidcPeer } from "../support/oidc.ts";
import { pathOf, restPlaceOf } from "../support/protocols.ts";
import { framed } from "../support/wire.ts";
import { messageJson, mutated } from "./messages.ts";
import { judgeAnswer } from "./oracle.ts";
import { bearer, damaged, host, json, leftOut, methodsOf, mostly, type Target } from "./target.ts";

const called = (peer: OidcPeer) =>
  fc.constantFrom(...methodsOf(peer).filter(({ name }) => !leftOut.has(name)));

type Asked = [DescMethod, JsonObject, boolean];
const asked = (peer: OidcPeer): fc.Arbitrary<Asked> =>
  called(peer).chain((method) => fc.tuple(fc.constant(method), messageJson(method.input), mostly));
const shown = ([method, message, isKnown]: Asked) =>
  `${pathOf(method)} ${isKnown ? "" : "without a token "}${JSON.stringify(message)}`;

/** Every RPC with messages of its schema, as Connect JSON. */
const rpcJson: Target = {
  name: "rpc-json",
  property: (peer) =>
    fc.asyncProperty(named(asked(peer), shown), async ({ value: [method, message, isKnown] }) => {
      const headers = { ...host(peer), ...json, ...bearer(peer, isKnown) };
      const body = JSON.stringify(message);
      judgeAnswer(await peer.peer.send({ path: pathOf(method), headers, body }));
    }),
};

/** Every RPC with bytes of its messages, whole and damaged, as Connect and gRPC. */
const rpcBytes: Target = {
  name: "rpc-bytes",
  property: (peer) =>
    fc.asyncProperty(
      asked(peer).chain(([method, message, isKnown]) =>
        fc.tuple(
          fc.constant(method),
          mutated(bytesOf(method, message)),
          fc.boolean(),
          fc.constant(isKnown),
        ),
      ),
      async ([method, bytes, isGrpc, isKnown]) => {
        const type = isGrpc ? "application/grpc" : "application/proto";
        const headers = { ...host(peer), ...bearer(peer, isKnown), "content-type": type };
        const body = isGrpc ? framed(bytes) : bytes;
        const version = isGrpc ? 2 : 1;
        judgeAnswer(await peer.peer.send({ version, path: pathOf(method), headers, body }));
      },
    ),
};

/** Frames of gRPC that say what they do not hold. */
const frames: Target = {
  name: "grpc-frames",
  property: (peer) =>
    fc.asyncProperty(
      called(peer),
      fc.integer({ min: 0, max: 255 }),
      fc.oneof(fc.constantFrom(0, 1, 4, 0xffffffff), fc.nat({ max: 100 })),
      fc.uint8Array({ maxLength: 60 }),
      fc.constantFrom("grpc", "grpc+proto", "grpc+json", "grpc-web", "grpc-web-text", "grpc+x"),
      async (method, flag, length, rest, kind) => {
        const head = Buffer.alloc(5);
        head[0] = flag;
        head.writeUInt32BE(length, 1);
        const headers = {
          ...host(peer),
          ...bearer(peer, true),
          "content-type": `application/${kind}`,
        };
        const path = pathOf(method);
        judgeAnswer(
          await peer.peer.send({ version: 2, path, headers, body: Buffer.concat([head, rest]) }),
        );
      },
    ),
};

const pieces = fc.oneof(
  fc.constantFrom(
    "users",
    "organizations",
    "_search",
    "..",
    "%2e%2e",
    "%",
    "%00",
    "%ff",
    "",
    "1",
    "_",
    "x".repeat(300),
    "settings",
    "v3alpha",
    "resources",
    "management",
    "v1",
    "import",
  ),
  fc.webSegment(),
);

/** The transcoder: routes as they are and a little beside, with queries and bodies that no schema knows. */
const transcoder: Target = {
  name: "rest",
  property: (peer) => {
    const templates = methodsOf(peer)
      .filter(({ name }) => !leftOut.has(name))
      .map((method) => restPlaceOf(method));
    return fc.asyncProperty(
      fc.constantFrom(...templates),
      fc.array(fc.oneof(fc.constant("1"), pieces), { minLength: 4, maxLength: 4 }),
      fc.constantFrom("", "", "", "GET", "POST", "PUT", "PATCH", "DELETE"),
      fc.oneof(fc.webQueryParameters(), fc.constantFrom(...queries)),
      fc.oneof(
        fc.json(),
        fc.jsonValue().map((value) => damaged(JSON.stringify(value))),
        fc.string(),
      ),
      async ({ httpMethod, template }, values, other, query, body) => {
        const given = [...values];
        const path = template.replaceAll(/\{[^}]+\}/g, () => given.pop() ?? "1");
        const target = `${path}?${query}`.replaceAll(/[^\x21-\x7e]/g, "");
        const method = other === "" ? httpMethod : other;
        const headers = { ...host(peer), ...json, ...bearer(peer, true) };
        const content = method === "GET" ? {} : { body };
        judgeAnswer(await peer.peer.send({ method, path: target, headers, ...content }));
      },
    );
  },
};

const queries = [
  "query.limit=0",
  "query.limit=-1",
  "query.limit=1e9",
  "query.offset=18446744073709551615",
  "query.asc=maybe",
  "sorting_column=1",
  "sorting_column=X",
  "ctx.org_id=404",
  "ctx=1",
  "query=1",
  "query.limit=1&query.limit=2",
  "filters=1",
  "__proto__=1",
  "constructor.prototype.a=1",
  "a.b.c.d.e.f=1",
  "%=1",
  "%ff=%fe",
];

const named = <T>(arbitrary: fc.Arbitrary<T>, show: (value: T) => string) =>
  arbitrary.map((value) => ({
    value,
    toString: () => show(value),
    [fc.toStringMethod]: () => show(value),
  }));

function bytesOf(method: DescMethod, message: JsonObject): Uint8Array {
  try {
    return toBinary(method.input, fromJson(method.input, message));
  } catch {
    // Not of the schema: then the text is as good as any other bytes.
    return Buffer.from(JSON.stringify(message).slice(0, 500));
  }
}

export const rpcTargets: readonly Target[] = [rpcJson, rpcBytes, frames, transcoder];
