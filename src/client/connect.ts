import type { DescService } from "@bufbuild/protobuf";
import { type Client, createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";

/** A token, or how to get one: a function is asked before every call, so that it can renew what has expired. */
export type TokenSource = string | (() => string | Promise<string>);

/** Where the service is, who calls it, and what is sent along. */
export type ClientOptions = {
  /** Scheme, host and port, as in the issuer: `https://id.example.com`. */
  baseUrl: string;
  /** A personal access token or an access token. Without one, only methods that anyone may call answer. */
  token?: TokenSource | undefined;
  /** The organization that calls act in, where a request does not name another context; else the instance. */
  organizationId?: string | undefined;
  /** Headers of every call. */
  headers?: Record<string, string> | undefined;
  /** How long a call may take, if it does not say so itself; no limit by default. */
  timeoutMs?: number | undefined;
  /** Replaces the global `fetch`. */
  fetch?: typeof globalThis.fetch | undefined;
};

/**
 * Connects to one service of those that the schema has, so that a page loads no other: `createServiceClient(UserService, …)`.
 * Everything else is as with `createClient`.
 */
export const createServiceClient = <S extends DescService>(
  service: S,
  options: ClientOptions,
): Client<S> => createClient(service, transportOf(options));

/** The Connect protocol over `fetch`, in browsers and in Node alike. */
export function transportOf(options: ClientOptions): Transport {
  return createConnectTransport({
    baseUrl: options.baseUrl,
    // The binary form keeps what a newer server knows and this client does not; JSON would refuse it.
    useBinaryFormat: true,
    interceptors: [sendHeaders(options)],
    ...(options.timeoutMs === undefined ? {} : { defaultTimeoutMs: options.timeoutMs }),
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
  });
}

/** What a single call sets itself is stronger than what the client sets. */
function sendHeaders({ token, organizationId, headers = {} }: ClientOptions): Interceptor {
  return (next) => async (request) => {
    const send = (name: string, value: string) => {
      if (!request.header.has(name)) request.header.set(name, value);
    };
    for (const [name, value] of Object.entries(headers)) send(name, value);
    if (organizationId !== undefined) send("x-idsvc-orgid", organizationId);
    if (token !== undefined && !request.header.has("authorization")) {
      send("authorization", `Bearer ${typeof token === "string" ? token : await token()}`);
    }
    return next(request);
  };
}
