import assert from "node:assert/strict";
import http from "node:http";
import http2 from "node:http2";
import {
  create,
  type DescMessage,
  type DescMethod,
  fromBinary,
  type JsonValue,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { exchangeOne, exchangeTwo, framed, type RawAnswer } from "../support/wire.ts";
import type { LoadSpec } from "./load/spec.ts";

const agent = new http.Agent({ keepAlive: false });
const bearer = (token: string | undefined): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };
const pathOf = (method: DescMethod): string => `/${method.parent.typeName}/${method.name}`;

/** Unary gRPC: 4 connections of 32 streams, or as said. */
export function grpcSpec<I extends DescMessage>(
  port: number,
  method: DescMethod & { input: I },
  request: MessageInitShape<I>,
  options: { token?: string; connections?: number; streams?: number; counted?: boolean } = {},
): LoadSpec {
  const { token, connections = 4, streams = 32, counted = false } = options;
  return {
    protocol: "grpc",
    port,
    method: "POST",
    path: pathOf(method),
    headers: { "content-type": "application/grpc", te: "trailers", ...bearer(token) },
    body: framed(toBinary(method.input, create(method.input, request))).toString("base64"),
    counted,
    connections,
    streams,
  };
}

/** HTTP/1.1 on 64 connections, or as many as said. */
export function restSpec(
  port: number,
  line: `${"GET" | "POST" | "PATCH"} /${string}`,
  options: { token?: string; body?: JsonValue; connections?: number; counted?: boolean } = {},
): LoadSpec {
  const { token, body, connections = 64, counted = false } = options;
  const [method = "", path = ""] = line.split(" ");
  const type = body === undefined ? {} : { "content-type": "application/json" };
  return {
    protocol: "http1",
    port,
    method,
    path,
    headers: { ...type, ...bearer(token) },
    body: body === undefined ? "" : Buffer.from(JSON.stringify(body)).toString("base64"),
    counted,
    connections,
    streams: 1,
  };
}

/** Connect JSON over HTTP/1.1: POST on the path of the method. */
export const connectSpec = (
  port: number,
  method: DescMethod,
  body: JsonValue,
  token?: string,
): LoadSpec =>
  restSpec(port, `POST ${pathOf(method) as `/${string}`}`, {
    body,
    ...(token === undefined ? {} : { token }),
  });

/** Sends the request of a spec once, over a connection of its own unless told otherwise. */
export async function call(spec: LoadSpec, over = agent): Promise<RawAnswer> {
  const { port, method, path, headers } = spec;
  const body = spec.body === "" ? {} : { body: Buffer.from(spec.body, "base64") };
  const request = { method, path, headers, ...body };
  if (spec.protocol === "http1") return exchangeOne(port, over, request);
  const session = http2.connect(`http://127.0.0.1:${port}`);
  try {
    return await exchangeTwo(session, request);
  } finally {
    session.close();
  }
}

/** Sends a JSON request once and requires success. */
export async function callJson(spec: LoadSpec): Promise<Record<string, JsonValue>> {
  const { status, body } = await call(spec);
  const text = body.toString("utf8");
  assert.ok(status >= 200 && status < 300, `status ${status}: ${text}`);
  return Object(JSON.parse(text));
}

/** Sends a gRPC request once, requires success and gives the message with the length of the answer. */
export async function callGrpc<O extends DescMessage>(
  spec: LoadSpec,
  output: O,
): Promise<{ message: MessageShape<O>; bytes: number }> {
  const { status, headers, body } = await call(spec);
  const said = `status ${status}, grpc-status ${headers["grpc-status"]} ${headers["grpc-message"]}`;
  assert.ok(status === 200 && headers["grpc-status"] === "0", said);
  return { message: fromBinary(output, body.subarray(5)), bytes: body.length };
}
