import { type DescField, type Message, toJson } from "@bufbuild/protobuf";
import { StatusSchema } from "#gen/google/rpc/status_pb.ts";
import { invalidArgument, notFound, unimplemented } from "../../errors.ts";
import { callEndpoint, type Endpoint } from "../endpoint.ts";
import { detailTypes, httpForm, toDomainError, toWire } from "../errors.ts";
import type { Exchange } from "../exchange.ts";
import { decompress } from "../rpc/compression.ts";
import { type Binding, bindRequest, restBindings } from "./body.ts";
import { writeMessage } from "./json.ts";
import { createRouteTree, type RouteMatch } from "./route-tree.ts";

const jsonType = "application/json";

type Route = { endpoint: Endpoint; binding: Binding };
export type RestRoutes = (httpMethod: string, path: string) => RouteMatch<Route>;

/** The REST routes of all methods, from their `google.api.http` options. */
export function restRoutes(endpoints: Iterable<Endpoint>): RestRoutes {
  const tree = createRouteTree<Route>();
  for (const endpoint of endpoints) {
    for (const binding of restBindings(endpoint.rule.method)) {
      tree.add(binding.httpMethod, binding.template, { endpoint, binding });
    }
  }
  return (httpMethod, path) => tree.match(httpMethod, path);
}

type Found = Extract<RouteMatch<Route>, { kind: "found" }>;

/** Serves a REST call: the same endpoint as every other protocol, other bytes (decisions A4-A7). */
export async function serveRest(found: Found, exchange: Exchange): Promise<void> {
  const { endpoint, binding } = found.value;
  const { rule } = endpoint;
  try {
    const { message, answer } = await callEndpoint(endpoint, exchange, {
      protocol: "rest",
      timeoutMs: undefined,
      async decode() {
        const encoding = exchange.headers.get("content-encoding") ?? "";
        const raw = await exchange.readBody(rule.maxBodyBytes);
        return bindRequest({
          method: rule.method,
          binding,
          variables: found.variables,
          query: exchange.query,
          body: await decompress(encoding, raw, rule.maxBodyBytes),
          contentType: exchange.headers.get("content-type"),
          ignoreUnknownFields: rule.ignoreUnknownFields,
        });
      },
    });
    respondJson(
      exchange,
      answer.httpStatus ?? rule.successStatus,
      JSON.stringify(answerBody(endpoint, binding.responseBody, message)),
    );
  } catch (thrown) {
    respondRestError(exchange, thrown, rule.jsonNames);
  }
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

/** The error body of every JSON answer that is not RPC: code, message, details (decisions A7). */
export function respondRestError(
  exchange: Exchange,
  thrown: unknown,
  jsonNames: "proto" | "lowerCamel" = "proto",
): void {
  const { error, status } = toWire(toDomainError(thrown, ""));
  const body = toJson(StatusSchema, status, {
    registry: detailTypes,
    alwaysEmitImplicit: false,
    useProtoFieldName: jsonNames === "proto",
  });
  const http = httpForm(error);
  const { details = [] } = Object(body);
  const whole = { code: status.code, message: status.message, details: details.map(typeFirst) };
  respondJson(exchange, http.status, JSON.stringify(whole), http.headers);
}

// The order means nothing to a machine; a person reads the type first.
const typeFirst = (detail: Record<string, unknown>) => ({ "@type": detail["@type"], ...detail });

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
  { httpMethod, path }: Exchange,
) {
  if (match.kind === "badEncoding") {
    return invalidArgument(
      "PATH_MALFORMED",
      "the path holds a percent-encoding that is not valid UTF-8",
    );
  }
  if (match.kind === "notFound") {
    return notFound(
      "ROUTE_NOT_FOUND",
      "nothing is served at this path: /openapi.json lists what is",
    );
  }
  const allow = match.allow.join(", ");
  return unimplemented(
    "METHOD_NOT_ALLOWED",
    `${httpMethod} is not served at ${path}: use ${allow}`,
    {
      httpStatus: 405,
      headers: { allow },
    },
  );
}
