import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** One call as a target saw it. */
export type Received = {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** The body as JSON; its members are for the test to know. */
  // oxlint-disable-next-line no-explicit-any -- what a target is told has a shape for each condition.
  json: any;
  at: number;
};

/** Answers one call: with a status and a value as JSON, or as it likes. */
export type Answer =
  | {
      status?: number;
      json?: unknown;
      text?: string | Uint8Array;
      headers?: Record<string, string>;
    }
  | ((response: ServerResponse, received: Received) => void | Promise<void>);

/** A target of loopback that does what its script says, by the path it is called at; else it answers 200 and nothing. */
export type Receiver = AsyncDisposable & {
  url(path: string): string;
  port: number;
  calls: Received[];
  /** Calls at one path. */
  at(path: string): Received[];
  on(path: string, answer: Answer): void;
  /** Decides anew for each call. */
  each(path: string, decide: (received: Received) => Answer | Promise<Answer>): void;
  connections: number;
};

export async function startReceiver(port = 0): Promise<Receiver> {
  const calls: Received[] = [];
  const fixed = new Map<string, Answer>();
  const deciders = new Map<string, (received: Received) => Answer | Promise<Answer>>();
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => void take());
    async function take() {
      const body = Buffer.concat(chunks).toString();
      const path = request.url ?? "";
      const json = body === "" ? undefined : JSON.parse(body);
      const received = { path, headers: request.headers, body, json, at: Date.now() };
      calls.push(received);
      const answer = (await deciders.get(path)?.(received)) ?? fixed.get(path) ?? {};
      if (typeof answer === "function") return answer(response, received);
      const text = answer.text ?? (answer.json === undefined ? "" : JSON.stringify(answer.json));
      response.writeHead(answer.status ?? 200, answer.headers).end(text);
    }
    request.on("error", () => {});
    response.on("error", () => {});
  });
  const receiver = { connections: 0 };
  server.on("connection", (socket) => {
    receiver.connections += 1;
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address !== "object") throw new Error("it listens nowhere");
  return Object.assign(receiver, {
    port: address.port,
    calls,
    url: (path: string) => `http://127.0.0.1:${address.port}${path}`,
    at: (path: string) => calls.filter((call) => call.path === path),
    on: (path: string, answer: Answer) => void fixed.set(path, answer),
    each: (path: string, decide: (received: Received) => Answer | Promise<Answer>) =>
      void deciders.set(path, decide),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  });
}

/** Whether the signature of a call is that of the key, as a receiver checks it. */
export function isSigned({ headers, body }: Received, key: string): boolean {
  const [, seconds, mac] =
    /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers["idsvc-signature"])) ?? [];
  const expected = createHmac("sha256", key).update(`${seconds}.${body}`).digest("hex");
  const isFresh = Math.abs(Number(seconds) - Date.now() / 1000) < 300;
  return mac === expected && isFresh;
}
