import { create, type DescMethodUnary, type MessageShape } from "@bufbuild/protobuf";
import type { CallForPerson } from "../authz/service.ts";
import { newCall } from "./call.ts";
import type { Endpoint, UnaryEndpoint } from "./endpoint.ts";

// The headers that describe the browser (`authz/agent-families.ts`). No other header of a request to a page reaches the call.
const forwarded: ReadonlySet<string> = new Set(["user-agent", "sec-ch-ua", "sec-ch-ua-platform"]);

/** What lets pages of the service call its methods for people, through the interceptors that every call passes. */
export function createPageCalls(endpoints: readonly Endpoint[]): CallForPerson {
  const byMethod = new Map(
    endpoints
      .filter((each): each is UnaryEndpoint => each.kind === "unary")
      .map((each) => [each.rule.method.parent.typeName + each.rule.method.name, each]),
  );
  return async <M extends DescMethodUnary>(
    method: M,
    request: Parameters<typeof create<M["input"]>>[1],
    person: Parameters<CallForPerson>[2],
  ) => {
    const endpoint = byMethod.get(method.parent.typeName + method.name);
    if (endpoint === undefined) throw new Error(`${method.name} is not served`);
    const { caller, browser, issuer, requestId, peer, language } = person;
    const { host, protocol } = new URL(issuer);
    const get = (name: string) =>
      name === "accept-language" ? language : forwarded.has(name) ? person.header(name) : undefined;
    const call = newCall(endpoint.rule, {
      protocol: "page",
      headers: { get, names: () => [], count: (name) => (get(name) === undefined ? 0 : 1) },
      host,
      peer,
      requestId,
      isProxied: false,
      scheme: protocol === "https:" ? "https" : "http",
      decode: () => create(method.input, request),
      timeoutMs: undefined,
      vouched: { caller, browser },
    });
    // The answer is of the type that the descriptor of its method says.
    return (await endpoint.invoke(call)).message as MessageShape<M["output"]>;
  };
}
