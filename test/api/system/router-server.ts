import assert from "node:assert/strict";
import { once } from "node:events";
import http2 from "node:http2";
import { type DescMethod, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { Client, credentials } from "@grpc/grpc-js";

export type RouterServer = AsyncDisposable & {
  /** `127.0.0.1:<port>` */
  address: string;
  /** A client that is not Connect's. */
  client: Client;
};

/** Serves a router in clear HTTP/2 on a port of its own. */
export async function serveRouter(
  routes: (router: ConnectRouter) => void,
  shutdownSignal?: AbortSignal,
): Promise<RouterServer> {
  const options = shutdownSignal === undefined ? {} : { shutdownSignal };
  const server = http2.createServer(connectNodeAdapter({ routes, ...options }));
  const sessions = new Set<http2.ServerHttp2Session>();
  server.on("session", (session) => sessions.add(session));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const bound = server.address();
  assert.ok(bound !== null && typeof bound === "object");
  const address = `127.0.0.1:${bound.port}`;
  const client = new Client(address, credentials.createInsecure());
  return {
    address,
    client,
    async [Symbol.asyncDispose]() {
      client.close();
      for (const session of sessions) session.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** How a foreign client writes the request and reads the answer of a method. */
export function codecOf(method: DescMethod) {
  return {
    path: `/${method.parent.typeName}/${method.name}`,
    write: (message: Message) => Buffer.from(toBinary(method.input, message)),
    read: (bytes: Buffer): Message => fromBinary(method.output, bytes),
  };
}
