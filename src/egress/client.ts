import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { DomainError } from "../errors.ts";
import { connectGuarded, type Guard } from "./connect.ts";
import { type CallLimits, endOf, withinDeadline } from "./deadline.ts";
import { EgressError, systemCode } from "./error.ts";
import { checkTargetUrl } from "./url-guard.ts";

// Not by an import: see `api/server.ts`.
const { request: httpRequest } = process.getBuiltinModule("node:http");

/** The longest answer body that is read, in bytes; a call may ask for less. */
export const longestAnswer = 1024 * 1024;
const longestHeader = 16 * 1024;

export type HttpCall = CallLimits & {
  method: "GET" | "POST";
  url: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  maxBytes?: number;
  /** Only the status and the headers matter: no byte of the body is read, and its coding is not judged. */
  headOnly?: boolean;
};

/** An answer with whatever status, but never a redirect. */
export type HttpAnswer = { status: number; headers: IncomingHttpHeaders; body: Uint8Array };

/** Everything the service may do outside (X13): no other part opens a connection to an address it was given. */
export interface EgressClient {
  /**
   * One HTTP/1.1 call on a connection of its own, made by no proxy, without cookies.
   *
   * The time limit spans name resolution, connection, TLS and the whole body. The body comes as it was sent:
   * an answer that is compressed is refused, so that none can grow beyond the limit.
   * @throws EgressError of every failure
   */
  call(call: HttpCall): Promise<HttpAnswer>;
  /**
   * A guarded connection for another protocol. Its own well-known `ports` are allowed beside the ordinary ones; with `ca`
   * it trusts these authorities (PEM) in the place of the usual ones.
   * @throws EgressError denied, dns, connect, tls, timeout, cancelled
   */
  connect(
    peer: { host: string; port: number; tls: boolean; ports: readonly number[]; ca?: string[] },
    limits: CallLimits,
  ): Promise<Socket>;
  /**
   * The TXT records of a name, each in one piece; none when there is no such name.
   * @throws EgressError dns, timeout, cancelled
   */
  texts(name: string, limits: CallLimits): Promise<string[]>;
}

export function createEgressClient(guard: Guard & { userAgent: string }): EgressClient {
  return {
    async call(call) {
      const url = checked(call.url, guard);
      const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
      const tls = url.protocol === "https:";
      const port = Number(url.port || (tls ? 443 : 80));
      return withinDeadline(host, call, async (signal) => {
        const peer = { host, port, tls, protocols: ["http/1.1"] };
        const socket = await connectGuarded(peer, guard, signal);
        signal.addEventListener("abort", () => socket.destroy(), { once: true });
        const response = await exchange(socket, url, call, guard.userAgent, signal);
        // What is not read may break off.
        if (call.headOnly) response.on("error", () => {});
        return {
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: call.headOnly
            ? new Uint8Array()
            : await bodyOf(response, host, call.maxBytes ?? longestAnswer),
        };
      });
    },

    connect: ({ ports, ca = guard.ca, ...peer }, limits) => {
      const allow = { ...guard.allow, ports: new Set([...guard.allow.ports, ...ports]) };
      return withinDeadline(peer.host, limits, (signal) =>
        connectGuarded(peer, { ...guard, allow, ca }, signal),
      );
    },

    texts: (name, limits) =>
      withinDeadline(name, limits, (signal) => guard.resolver.texts(name, signal)),
  };
}

function checked(url: string, guard: Guard): URL {
  try {
    checkTargetUrl(url, guard.allow, "url");
    return new URL(url);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    throw new EgressError("denied", URL.parse(url)?.hostname || "the url", error.metadata["rule"]);
  }
}

/** Sends the request and gives the answer as soon as its header is there. */
function exchange(
  socket: Socket,
  url: URL,
  call: HttpCall,
  userAgent: string,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const failed = (error: unknown) => {
    const code = systemCode(error);
    const failure = code === "HPE_HEADER_OVERFLOW" ? "too_large" : "protocol";
    reject(signal.aborted ? endOf(signal) : new EgressError(failure, url.hostname, code));
  };
  const body = call.body === undefined ? undefined : Buffer.from(call.body);
  const request = httpRequest({
    createConnection: () => socket,
    method: call.method,
    path: url.pathname + url.search,
    headers: {
      ...call.headers,
      host: url.host,
      "user-agent": userAgent,
      "accept-encoding": "identity",
      connection: "close",
      ...(call.method === "POST" ? { "content-length": body?.length ?? 0 } : {}),
    },
    maxHeaderSize: longestHeader,
    insecureHTTPParser: false,
  });
  request.on("error", failed);
  request.on("upgrade", () => failed(undefined));
  request.on("response", (response) => {
    const refusal = refusalOf(response, call.headOnly === true);
    if (refusal === undefined) return resolve(response);
    reject(new EgressError(refusal, url.hostname));
  });
  request.end(body);
  return promise;
}

function refusalOf({ statusCode = 0, headers }: IncomingMessage, headOnly: boolean) {
  if (statusCode >= 300 && statusCode < 400) return "redirect";
  if (headOnly) return undefined;
  const plain = (coding: string | undefined, ...names: string[]) =>
    coding === undefined || names.includes(coding.trim().toLowerCase());
  if (!plain(headers["content-encoding"], "identity", "")) return "encoding";
  return plain(headers["transfer-encoding"], "chunked") ? undefined : "encoding";
}

async function bodyOf(response: IncomingMessage, host: string, maxBytes: number) {
  const tooLarge = () => new EgressError("too_large", host);
  if (Number(response.headers["content-length"] ?? 0) > maxBytes) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of response as AsyncIterable<Uint8Array>) {
      length += chunk.length;
      if (length > maxBytes) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof EgressError
      ? error
      : new EgressError("protocol", host, systemCode(error));
  }
  return Buffer.concat(chunks);
}
