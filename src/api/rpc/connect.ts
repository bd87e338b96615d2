import { Code } from "#gen/google/rpc/code_pb.ts";
import { whenKnown } from "../../awaitable.ts";
import { type DomainError } from "../../errors.ts";
import { callEndpoint, type UnaryEndpoint } from "../endpoint.ts";
import { httpForm, toDomainError, toWire } from "../errors.ts";
import type { Exchange } from "../exchange.ts";
import { type Codec, jsonCodec, protoCodec } from "./codec.ts";
import { readDecompressed } from "./compression.ts";
import { timeoutMalformed } from "../refusals.ts";

/** The codec of a unary Connect call, by its content type. */
export function connectCodec(contentType: string): Codec | undefined {
  const match = /^application\/(json|proto)(?:\s*;.*)?$/i.exec(contentType);
  if (match === null) return undefined;
  if (match[1]?.toLowerCase() === "proto") return protoCodec;
  return /charset=(?!"?utf-8"?)/i.test(contentType) ? undefined : jsonCodec;
}

/** Serves a unary call over the Connect protocol, by POST. */
export async function serveConnect(
  endpoint: UnaryEndpoint,
  exchange: Exchange,
  codec: Codec,
): Promise<void> {
  try {
    const { rule } = endpoint;
    const { result } = await callEndpoint(endpoint, exchange, {
      protocol: "connect",
      timeoutMs: connectTimeout(exchange.headers.get("connect-timeout-ms")),
      decode() {
        const body = readDecompressed(exchange, rule.maxBodyBytes);
        return whenKnown(body, (bytes) => codec.read(rule, bytes));
      },
    });
    const headers = { "content-type": `application/${codec.name}` };
    exchange.respond({ status: 200, headers, body: codec.write(rule, result) });
  } catch (thrown) {
    respondConnectError(exchange, thrown);
  }
}

/** Sends a refusal as the Connect protocol writes it; the HTTP status is that of REST (A7). */
export function respondConnectError(exchange: Exchange, thrown: unknown): void {
  const error = toDomainError(thrown, exchange.requestId);
  const http = httpForm(error);
  exchange.respond({
    status: http.status,
    headers: { "content-type": "application/json", ...http.headers },
    body: JSON.stringify(connectError(error)),
  });
}

/** A refusal as Connect writes it, whole or at the end of a stream. */
export function connectError(error: DomainError) {
  const status = toWire(error);
  const details = status.details.map(({ typeUrl, value }) => ({
    type: typeUrl.slice(typeUrl.lastIndexOf("/") + 1),
    value: Buffer.from(value).toString("base64").replace(/=+$/, ""),
  }));
  return { code: codeNames.get(status.code) ?? "unknown", message: status.message, details };
}

// Connect spells the canonical codes in lower case, and one of them as in America.
const codeNames = new Map<number, string>([
  ...Object.entries(Code).map(([name, code]): [number, string] => [code, name.toLowerCase()]),
  [Code.CANCELLED, "canceled"],
]);

export function connectTimeout(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,10}$/.test(value)) return Number(value);
  throw timeoutMalformed("connect-timeout-ms must be 1 to 10 digits");
}
