import assert from "node:assert/strict";
import { create, fromBinary, fromJson, toBinary, toJson } from "@bufbuild/protobuf";
import { ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import * as grpc from "@grpc/grpc-js";
import {
  EventService,
  type WatchEventsRequest,
  WatchEventsRequestSchema,
  type WatchEventsResponse,
  WatchEventsResponseSchema,
} from "#gen/idsvc/resources/event/v3alpha/event_service_pb.ts";
import { errorReason } from "../../../src/client/error-reason.ts";
import { until } from "../../jobs/place.ts";

type End = { code: number; reason: string | undefined };

/** A stream that somebody follows: what it has told so far, and how it ended. */
export type Watcher = {
  told: WatchEventsResponse[];
  ended: End | undefined;
  /** The names of the events told so far. */
  types(): string[];
  leave(): void;
};

export type Ask = Partial<Pick<WatchEventsRequest, "afterSequence" | "filters" | "ctx">>;
type To = { port: number; token: string; language?: string };
type Open = (to: To, request: WatchEventsRequest, tell: Tell) => () => void;
type Tell = { message(message: WatchEventsResponse): void; end(end: End): void };

const ok: End = { code: 0, reason: undefined };

const headersOf = ({ token, language }: To): Record<string, string> => ({
  authorization: `Bearer ${token}`,
  ...(language === undefined ? {} : { "accept-language": language }),
});

const overRest: Open = (to, request, tell) => {
  const leave = new AbortController();
  const run = async () => {
    const answer = await fetch(`http://localhost:${to.port}/resources/v3alpha/events/_watch`, {
      method: "POST",
      headers: { ...headersOf(to), "content-type": "application/json" },
      body: JSON.stringify(toJson(WatchEventsRequestSchema, request)),
      signal: leave.signal,
    });
    const endOf = (error: { code: number; details: { reason: string }[] }) =>
      tell.end({ code: error.code, reason: error.details[0]?.reason });
    if (!answer.ok) return endOf(Object(await answer.json()));
    assert.equal(answer.headers.get("content-type"), "application/x-ndjson");
    let rest = "";
    for await (const piece of (answer.body ?? assert.fail()).pipeThrough(new TextDecoderStream())) {
      const lines = (rest + piece).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const json = JSON.parse(line);
        if ("error" in json) return endOf(json.error);
        tell.message(fromJson(WatchEventsResponseSchema, json));
      }
    }
    tell.end(ok);
  };
  void run().catch((error: unknown) => tell.end({ code: -1, reason: String(error) }));
  return () => leave.abort();
};

const overGrpc: Open = (to, request, tell) => {
  const client = new grpc.Client(`localhost:${to.port}`, grpc.credentials.createInsecure());
  const metadata = new grpc.Metadata();
  for (const [name, value] of Object.entries(headersOf(to))) metadata.set(name, value);
  const call = client.makeServerStreamRequest(
    `/${EventService.typeName}/WatchEvents`,
    (wanted: WatchEventsRequest) => Buffer.from(toBinary(WatchEventsRequestSchema, wanted)),
    (bytes) => fromBinary(WatchEventsResponseSchema, bytes),
    request,
    metadata,
  );
  call.on("data", tell.message);
  call.on("error", () => {});
  call.on("status", ({ code, metadata: trailers }) => {
    const details = trailers.get("grpc-status-details-bin")[0];
    client.close();
    tell.end({ code, reason: /[A-Z]+(_[A-Z]+)+/.exec(details?.toString() ?? "")?.[0] });
  });
  return () => call.cancel();
};

const overTransport =
  (transportTo: (baseUrl: string) => Transport): Open =>
  (to, request, tell) => {
    const leave = new AbortController();
    const client = createClient(EventService, transportTo(`http://localhost:${to.port}`));
    const headers = headersOf(to);
    const run = async () => {
      for await (const message of client.watchEvents(request, { headers, signal: leave.signal })) {
        tell.message(message);
      }
      tell.end(ok);
    };
    void run().catch((error: unknown) =>
      tell.end(
        error instanceof ConnectError
          ? { code: error.code, reason: errorReason(error) }
          : { code: -1, reason: String(error) },
      ),
    );
    return () => leave.abort();
  };

export const protocols: readonly [string, Open][] = [
  ["REST as NDJSON", overRest],
  ["gRPC, by grpc-js", overGrpc],
  [
    "Connect over HTTP/2",
    overTransport((baseUrl) => createConnectTransport({ baseUrl, httpVersion: "2" })),
  ],
  [
    "gRPC-Web over HTTP/1.1",
    overTransport((baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" })),
  ],
];

/** Follows the log, and waits until the stream is open or refused. */
export async function watch(to: To, ask: Ask = {}, open: Open = overRest): Promise<Watcher> {
  const told: WatchEventsResponse[] = [];
  const watcher: Watcher = {
    told,
    ended: undefined,
    types: () => told.flatMap(({ event }) => event?.type ?? []),
    leave: () => close(),
  };
  const close = open(to, create(WatchEventsRequestSchema, ask), {
    message: (message) => void told.push(message),
    end: (end) => void (watcher.ended ??= end),
  });
  await until(() => told.length > 0 || watcher.ended !== undefined, "the stream is open");
  return watcher;
}
