import { type Client, createClient as connect } from "@connectrpc/connect";
import { services } from "#gen/client_services.ts";
import { type ClientOptions, transportOf } from "./connect.ts";

export { create, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
export { Code, ConnectError } from "@connectrpc/connect";
export { type ClientOptions, createServiceClient, type TokenSource } from "./connect.ts";
export { errorReason } from "./error-reason.ts";
export * from "./schema.ts";

type Services = typeof services;

/** One property for each service; its methods are those of the schema, and each call takes its own headers and timeout. */
export type IdsvcClient = { readonly [K in keyof Services]: Client<Services[K]> };

/**
 * Connects to a running service with the Connect protocol over `fetch`, in browsers and in Node alike.
 *
 * Nothing is sent before the first call. A refused call throws a `ConnectError`; `errorReason` tells why.
 */
export function createClient(options: ClientOptions): IdsvcClient {
  const transport = transportOf(options);
  return Object.fromEntries(
    Object.entries(services).map(([name, each]) => [name, connect(each, transport)]),
  ) as IdsvcClient;
}
