import type { Response } from "../authz/response-cache.ts";
import { type Call, type Incoming, leave, newCall } from "./call.ts";
import type { Defer } from "./deferral.ts";
import type { Exchange } from "./exchange.ts";
import type { MethodRule } from "./method-rule.ts";

/** One method with its interceptors and its handler: what every protocol calls. */
export type UnaryEndpoint = {
  kind: "unary";
  rule: MethodRule;
  defer: Defer;
  invoke: (call: Call) => Promise<Response>;
};
/** One request, any number of answers. */
export type StreamEndpoint = {
  kind: "server_streaming";
  rule: MethodRule;
  defer: Defer;
  invoke: (call: Call) => Promise<AsyncIterable<Response>>;
};
export type Endpoint = UnaryEndpoint | StreamEndpoint;

type How = Pick<Incoming, "protocol" | "decode" | "timeoutMs" | "openBody">;

/** What comes of a call: the answer or the opened stream, and what the handler said about it. */
export type Outcome<R> = { result: R; answer: Call["answer"] };

/** Runs one call of an exchange. */
export async function callEndpoint<R>(
  {
    rule,
    defer,
    invoke,
  }: Pick<Endpoint, "rule" | "defer"> & { invoke: (call: Call) => Promise<R> },
  exchange: Exchange,
  how: How,
): Promise<Outcome<R>> {
  const call = newCall(rule, {
    protocol: how.protocol,
    decode: how.decode,
    timeoutMs: how.timeoutMs,
    openBody: how.openBody,
    headers: exchange.headers,
    host: exchange.host,
    scheme: exchange.scheme,
    peer: exchange.peer,
    isProxied: exchange.isProxied,
    requestId: exchange.requestId,
  });
  exchange.onGone(() => leave(call));
  const result = await defer(() => invoke(call));
  return { result, answer: call.answer };
}
