import assert from "node:assert/strict";
import http from "node:http";
import http2 from "node:http2";
import net from "node:net";
import {
  create,
  type DescMessage,
  type DescMethod,
  type DescMethodUnary,
  fromBinary,
  fromJson,
  getOption,
  type JsonObject,
  type JsonValue,
  type Message,
  type MessageInitShape,
  type MessageShape,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { ConnectError } from "@connectrpc/connect";
import { createConnectTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { http as httpRule } from "#gen/google/api/annotations_pb.ts";
import { method as methodOptions } from "#gen/idsvc/options/v1/options_pb.ts";
import { StatusSchema } from "#gen/google/rpc/status_pb.ts";
import { connectRefusal, grpcRefusal, type Refusal, refusal, restRefusal } from "./refusal.ts";
import { roundsOf } from "./rounds.ts";
import { exchangeOne, exchangeTwo, framed, type RawAnswer, type RawRequest } from "./wire.ts";

/** Every way to make a unary call of the one port; gRPC by a client that is not ours. */
export const protocols = [
  "grpc",
  "grpc-web",
  "grpc-web-text",
  "connect-json",
  "connect-proto",
  "connect-http2",
  "rest",
] as const;
export type Protocol = (typeof protocols)[number];

/**
 * How a method is called where something else than its framing is tried: by one protocol or two, which are others for the next method,
 * or by as many as `IDSVC_TEST_ROUNDS` asks for.
 */
export const someProtocols = (nth: number, usual: 1 | 2 = 2): Protocol[] =>
  Array.from(
    { length: Math.min(roundsOf(usual), protocols.length) },
    (_, at) => protocols[(nth + 3 * at) % protocols.length] ?? "rest",
  );

export type Success<M = Message> = { ok: true; message: M; httpStatus: number | undefined };
export type Outcome<M = Message> = Success<M> | Refusal;

export type CallOptions = { token?: string; headers?: Record<string, string>; host?: string };

/** What REST answered: the JSON of a success, or the refusal. */
export type RestAnswer = RawAnswer & { refusal: Refusal | undefined };

export type Peer = Disposable & {
  call<I extends DescMessage, O extends DescMessage>(
    protocol: Protocol,
    method: DescMethod & { input: I; output: O },
    request: MessageInitShape<I>,
    options?: CallOptions,
  ): Promise<Outcome<MessageShape<O>>>;
  rest(method: string, path: string, body?: JsonValue, options?: CallOptions): Promise<RestAnswer>;
  send(request: RawRequest): Promise<RawAnswer>;
};

export const pathOf = (method: DescMethod) => `/${method.parent.typeName}/${method.name}`;

/** A client of a running service in clear; it speaks all protocols over connections it keeps. */
export function connectPeer(port: number): Peer {
  const agent = new http.Agent({ keepAlive: true });
  const grpcClients = new Map<string, Client>();
  const sessions = new Map<string, Http2SessionManager>();
  let session: http2.ClientHttp2Session | undefined;

  const grpcClient = (host: string) => {
    let client = grpcClients.get(host);
    if (client === undefined) {
      const authority = { "grpc.default_authority": host };
      client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), authority);
      grpcClients.set(host, client);
    }
    return client;
  };
  const sessionTo = (host: string) => {
    let manager = sessions.get(host);
    if (manager === undefined) {
      const createConnection = () => net.connect(port, "127.0.0.1");
      manager = new Http2SessionManager(`http://${host}`, {}, { createConnection });
      sessions.set(host, manager);
    }
    return manager;
  };
  const sendTwo = (request: RawRequest) => {
    if (session === undefined || session.closed || session.destroyed) {
      session = http2.connect(`http://localhost:${port}`, {
        createConnection: () => net.connect(port, "127.0.0.1"),
      });
      session.on("error", () => {});
    }
    return exchangeTwo(session, request);
  };
  const send = (request: RawRequest) =>
    request.version === 2 ? sendTwo(request) : exchangeOne(port, agent, request);

  const call = (
    protocol: Protocol,
    method: DescMethod,
    init: MessageInitShape<DescMessage>,
    { token, host = `localhost:${port}`, headers: more = {} }: CallOptions = {},
  ): Promise<Outcome> => {
    const request = create(method.input, init);
    const bearer = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const headers: Record<string, string> = { ...bearer, ...more };
    switch (protocol) {
      case "grpc":
        return callGrpc(grpcClient(host), method, request, headers);
      case "connect-http2":
        return callTransport(host, sessionTo(host), method, request, headers);
      case "rest":
        return send(restRequest(method, request, { ...headers, host })).then((answer) =>
          restOutcome(method, answer),
        );
      default:
        return callPost(send, protocol, method, request, { ...headers, host });
    }
  };

  return {
    // The outcome's message is made by the method's own output type.
    call: call as Peer["call"],
    async rest(method, path, body, { token, headers = {}, host = `localhost:${port}` } = {}) {
      const bearer = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const typed = body === undefined ? {} : { "content-type": "application/json" };
      const answer = await send({
        method,
        path,
        headers: { host, ...bearer, ...typed, ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { ...answer, refusal: answer.status < 400 ? undefined : restRefusal(answer) };
    },
    send,
    [Symbol.dispose]() {
      agent.destroy();
      session?.destroy();
      for (const client of grpcClients.values()) client.close();
      for (const manager of sessions.values()) manager.abort();
    },
  };
}

/** The message of a call that must succeed. */
export function messageOf<M>(outcome: Outcome<M>): M {
  if (!outcome.ok) assert.fail(`${outcome.code} ${outcome.reason}: ${outcome.message}`);
  return outcome.message;
}

async function callGrpc(
  client: Client,
  method: DescMethod,
  request: Message,
  headers: Record<string, string>,
): Promise<Outcome> {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  const write = (message: Message) => Buffer.from(toBinary(method.input, message));
  const read = (bytes: Buffer): Message => fromBinary(method.output, bytes);
  const options = { deadline: Date.now() + 20_000 };
  const [error, message] = await new Promise<[ServiceError | null, (Message | undefined)?]>(
    (resolve) => {
      client.makeUnaryRequest(pathOf(method), write, read, request, metadata, options, (...told) =>
        resolve(told),
      );
    },
  );
  if (error === null) {
    assert.ok(message);
    return { ok: true, message, httpStatus: undefined };
  }
  const [packed] = error.metadata.get("grpc-status-details-bin");
  assert.ok(packed instanceof Buffer, `status details: ${String(error)}`);
  const status = fromBinary(StatusSchema, packed);
  assert.equal(status.code, error.code);
  return refusal(status, undefined, { "grpc-message": error.details });
}

async function callTransport(
  host: string,
  sessionManager: Http2SessionManager,
  method: DescMethod,
  request: Message,
  headers: Record<string, string>,
): Promise<Outcome> {
  const transport = createConnectTransport({
    baseUrl: `http://${host}`,
    httpVersion: "2",
    sessionManager,
  });
  try {
    const answer = await transport.unary(
      method as DescMethodUnary,
      undefined,
      20_000,
      headers,
      request,
    );
    return { ok: true, message: answer.message, httpStatus: 200 };
  } catch (error) {
    assert.ok(error instanceof ConnectError);
    const details = error.details.map((detail) => {
      assert.ok("type" in detail);
      return create(AnySchema, {
        typeUrl: `type.googleapis.com/${detail.type}`,
        value: detail.value,
      });
    });
    const told = { code: error.code, message: error.rawMessage, details };
    return refusal(told, undefined, Object.fromEntries(error.metadata));
  }
}

async function callPost(
  send: Peer["send"],
  protocol: "grpc-web" | "grpc-web-text" | "connect-json" | "connect-proto",
  method: DescMethod,
  request: Message,
  headers: Record<string, string>,
): Promise<Outcome> {
  const path = pathOf(method);
  const bytes = toBinary(method.input, request);
  const post = (type: string, body: Uint8Array | string) =>
    send({ path, headers: { ...headers, "content-type": `application/${type}` }, body });
  switch (protocol) {
    case "connect-json": {
      const answer = await post("json", JSON.stringify(toJson(method.input, request)));
      if (answer.status !== 200) return connectRefusal(answer);
      return { ok: true, message: fromJson(method.output, answer.json), httpStatus: 200 };
    }
    case "connect-proto": {
      const answer = await post("proto", bytes);
      if (answer.status !== 200) return connectRefusal(answer);
      return { ok: true, message: fromBinary(method.output, answer.body), httpStatus: 200 };
    }
    case "grpc-web":
      return webOutcome(method, await post("grpc-web+proto", framed(bytes)));
    case "grpc-web-text": {
      const answer = await post("grpc-web-text", framed(bytes).toString("base64"));
      const body = Buffer.from(answer.body.toString("latin1"), "base64");
      return webOutcome(method, { ...answer, body });
    }
    default:
      return protocol satisfies never;
  }
}

function webOutcome(method: DescMethod, { status, headers, body }: RawAnswer): Outcome {
  assert.equal(status, 200, "gRPC-Web answers 200, whatever the outcome");
  let message: Message | undefined;
  let fields = headers;
  for (let at = 0; at < body.length; ) {
    const end = at + 5 + body.readUInt32BE(at + 1);
    const content = body.subarray(at + 5, end);
    if (body[at] === 0) message = fromBinary(method.output, content);
    else {
      const lines = content.toString("latin1").split("\r\n").filter(Boolean);
      fields = Object.fromEntries(lines.map((line) => line.split(/: (.*)/s)));
    }
    at = end;
  }
  if (fields["grpc-status"] !== "0") return grpcRefusal(fields);
  assert.ok(message, "an OK answer has a message");
  return { ok: true, message, httpStatus: 200 };
}

/** Where REST serves a method: its HTTP method, and its path with the variables in braces. */
export function restPlaceOf(method: DescMethod): { httpMethod: string; template: string } {
  const { pattern } = getOption(method, httpRule);
  assert.ok(typeof pattern.value === "string" && pattern.case, `${method.name} has a REST path`);
  return { httpMethod: pattern.case.toUpperCase(), template: pattern.value };
}

/** The REST request of a call, built from the method's `google.api.http` option alone. */
export function restRequest(
  method: DescMethod,
  request: Message,
  headers: NodeJS.Dict<string | string[]>,
): RawRequest {
  const { body } = getOption(method, httpRule);
  const { httpMethod, template } = restPlaceOf(method);
  const fields = { ...(toJson(method.input, request, { useProtoFieldName: true }) as JsonObject) };
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const { [name]: value = "" } = fields;
    assert.ok(typeof value === "string", `${name} can stand in a path`);
    delete fields[name];
    return encodeURIComponent(value);
  });
  const content = body === "" ? undefined : body === "*" ? fields : fields[body];
  if (body !== "") delete fields[body];
  const query = body === "*" ? "" : new URLSearchParams(parameters(fields)).toString();
  const target = query === "" ? path : `${path}?${query}`;
  if (getOption(method, methodOptions).streamBody && typeof content === "string") {
    const type = { "content-type": "application/json" };
    const bytes = Buffer.from(content, "base64");
    return { method: httpMethod, path: target, headers: { ...headers, ...type }, body: bytes };
  }
  return {
    method: httpMethod,
    path: target,
    headers: content === undefined ? headers : { ...headers, "content-type": "application/json" },
    ...(content === undefined ? {} : { body: JSON.stringify(content) }),
  };
}

function parameters(value: JsonValue, name = ""): [string, string][] {
  if (Array.isArray(value)) return value.flatMap((each) => parameters(each, name));
  if (value === null || typeof value !== "object") return [[name, String(value)]];
  return Object.entries(value).flatMap(([key, inner]) =>
    parameters(inner, name === "" ? key : `${name}.${key}`),
  );
}

function restOutcome(method: DescMethod, answer: RawAnswer): Outcome {
  if (answer.status >= 300) return restRefusal(answer);
  const message = fromJson(method.output, answer.json);
  return { ok: true, message, httpStatus: answer.status };
}
