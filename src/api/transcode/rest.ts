import { type DescField, type Message, toJson } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { methodNotAllowed } from "../refusals.ts";
import { whenKnown } from "../../awaitable.ts";
import { type Response, writtenAs } from "../../authz/response-cache.ts";
import { type DomainError, invalidArgument, routeNotFound } from "../../errors.ts";
import { callEndpoint, type Endpoint, type Outcome } from "../endpoint.ts";
import { detailTypes, httpForm, toDomainError, toWire } from "../errors.ts";
import type { Exchange } from "../exchange.ts";
import { flowing } from "../flow.ts";
import { decompressPieces, readDecompressed } from "../rpc/compression.ts";
import { type Binding, bindRequest, restBindings } from "./body.ts";
import { jsonForm, writeMessage } from "./json.ts";
import { createRouteTree, type RouteMatch } from "./route-tree.ts";

const jsonType = "application/json";

type Route = { endpoint: Endpoint; binding: Binding; form: string };
export type RestRoutes = (httpMethod: string, path: string) => RouteMatch<Route>;

/** The REST routes of all methods, from their `google.api.http` options. */
export function restRoutes(endpoints: Iterable<Endpoint>): RestRoutes {
  const tree = createRouteTree<Route>();
  for (const endpoint of endpoints) {
    const { method, jsonNames } = endpoint.rule;
    for (const binding of restBindings(method)) {
      const form = jsonForm(jsonNames, binding.responseBody);
      tree.add(binding.httpMethod, binding.template, { endpoint, binding, form });
    }
  }
  return (httpMethod, path) => tree.match(httpMethod, path);
}

type Found = Extract<RouteMatch<Route>, { kind: "found" }>;

/** Serves a REST call: the same endpoint as every other protocol, other bytes (A4 to A7). */
export async function serveRest(found: Found, exchange: Exchange): Promise<void> {
  const { endpoint, binding, form } = found.value;
  const { rule } = endpoint;
  try {
    const bind = (body: Uint8Array): Message =>
      bindRequest({
        method: rule.method,
        binding,
        variables: found.variables,
        query: exchange.query,
        body,
        contentType: exchange.headers.get("content-type"),
        ignoreUnknownFields: rule.ignoreUnknownFields,
      });
    const how = {
      protocol: "rest" as const,
      timeoutMs: undefined,
      openBody: rule.streamsBody ? () => inPieces(exchange) : undefined,
      decode() {
        // The rest of the request stands in the path and the query.
        if (rule.streamsBody) return bind(new Uint8Array());
        return whenKnown(readDecompressed(exchange, rule.maxBodyBytes), bind);
      },
    };
    const write = (response: Response) =>
      writtenAs(response, form, (it) =>
        JSON.stringify(answerBody(endpoint, binding.responseBody, it)),
      );
    if (endpoint.kind === "server_streaming") {
      const opened = await callEndpoint(endpoint, exchange, how);
      await sendLines(exchange, rule, opened, write);
      return;
    }
    const { result, answer } = await callEndpoint(endpoint, exchange, how);
    respondJson(exchange, answer.httpStatus ?? rule.successStatus, write(result));
  } catch (thrown) {
    respondRestError(exchange, thrown, rule.jsonNames);
  }
}

const inPieces = (exchange: Exchange): AsyncIterable<Uint8Array> =>
  decompressPieces(exchange.headers.get("content-encoding") ?? "", exchange.openBody());

/** A server stream as NDJSON: one message a line; a stream that breaks ends with a line `{"error": ...}`. */
async function sendLines(
  exchange: Exchange,
  { successStatus, jsonNames }: Endpoint["rule"],
  { result }: Outcome<AsyncIterable<Response>>,
  write: (response: Response) => string,
): Promise<void> {
  const lines = exchange.stream(successStatus, {
    "content-type": "application/x-ndjson",
    "cache-control": "no-store",
  });
  try {
    const line = (response: Response) =>
      writtenAs(response, "line", () => Buffer.from(`${write(response)}\n`));
    for await (const response of flowing(exchange, result)) await lines.write(line(response));
  } catch (thrown) {
    const error = restError(toDomainError(thrown, exchange.requestId), jsonNames);
    await lines.write(`${JSON.stringify({ error })}\n`);
  }
  lines.end();
}

function answerBody(
  { rule: { method, jsonNames } }: Endpoint,
  field: DescField | undefined,
  message: Message,
): unknown {
  const json = writeMessage(method.output, message, { jsonNames, registry: detailTypes });
  if (field === undefined) return json;
  const name = jsonNames === "proto" ? field.name : field.jsonName;
  return Reflect.get(Object(json), name) ?? null;
}

/** The error body of every JSON answer that is not RPC: code, message, details (A7). */
export function respondRestError(
  exchange: Exchange,
  thrown: unknown,
  jsonNames: "proto" | "lowerCamel" = "proto",
): void {
  const error = toDomainError(thrown, exchange.requestId);
  const http = httpForm(error);
  respondJson(exchange, http.status, JSON.stringify(restError(error, jsonNames)), http.headers);
}

function restError(error: DomainError, jsonNames: "proto" | "lowerCamel") {
  const status = toWire(error);
  const options = { registry: detailTypes, useProtoFieldName: jsonNames === "proto" };
  const details = status.details.map((detail) => {
    const json = Object(toJson(AnySchema, detail, options));
    // The order means nothing to a machine; a person reads the type first.
    return { "@type": Reflect.get(json, "@type"), ...json };
  });
  return { code: status.code, message: status.message, details };
}

function respondJson(
  exchange: Exchange,
  status: number,
  json: string,
  headers: Record<string, string> = {},
): void {
  exchange.respond({
    status,
    headers: { "content-type": jsonType, "cache-control": "no-store", ...headers },
    body: json,
  });
}

/** The refusal of a path that no route has, or not for this HTTP method. */
export function routeError(
  match: Exclude<RouteMatch<Route>, { kind: "found" }>,
  exchange: Exchange,
): DomainError {
  if (match.kind === "badEncoding") {
    return invalidArgument(
      "PATH_MALFORMED",
      "the path holds a percent-encoding that is not valid UTF-8",
    );
  }
  if (match.kind === "notFound") return routeNotFound();
  return methodNotAllowed(exchange, match.allow);
}
