import { once } from "node:events";
import http from "node:http";
import type http2 from "node:http2";
import net from "node:net";
import type { JsonValue } from "@bufbuild/protobuf";

// A service that hangs fails a test, and does not hold it up.
const longestMs = 60_000;

/** One HTTP request, as it goes over the wire. */
export type RawRequest = {
  version?: 1 | 2;
  method?: string;
  path: string;
  headers?: NodeJS.Dict<string | string[]>;
  body?: Uint8Array | string;
};
export type RawAnswer = {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
  /** Of an answer in JSON; null of any other. */
  json: JsonValue;
};

/** Writes bytes to a fresh connection and gives all that comes back until the server closes it. */
export const speak = (port: number, ...pieces: (string | Uint8Array)[]): Promise<string> =>
  hear(port, undefined, ...pieces);

/** Writes bytes to a fresh connection and gives what comes back, up to where it matches; then it hangs up. */
export async function hear(
  port: number,
  until: RegExp | undefined,
  ...pieces: (string | Uint8Array)[]
): Promise<string> {
  const socket = net.connect(port, "127.0.0.1").setTimeout(longestMs, () => socket.destroy());
  let heard = "";
  socket.on("data", (chunk: Buffer) => {
    heard += chunk.toString("latin1");
    if (until?.test(heard)) socket.destroy();
  });
  // A server that cuts the connection while we write is an answer too.
  socket.on("error", () => {});
  for (const piece of pieces) socket.write(piece);
  await once(socket, "close");
  return heard;
}

/** Puts bytes into a gRPC frame; `flag` 1 says that they are compressed. */
export function framed(message: Uint8Array, flag = 0): Buffer {
  const head = Buffer.alloc(5);
  head[0] = flag;
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

const fieldsOf = (headers: Record<string, string | string[] | undefined>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

function toAnswer(
  status: number,
  headers: Record<string, string>,
  chunks: readonly Buffer[],
): RawAnswer {
  const body = Buffer.concat(chunks);
  const isJson = headers["content-type"]?.startsWith("application/json") === true;
  const json = isJson && body.length > 0 ? (JSON.parse(body.toString("utf8")) as JsonValue) : null;
  return { status, headers, body, json };
}

/** One request over HTTP/1.1; trailers are among the headers of the answer. */
export function exchangeOne(
  port: number,
  agent: http.Agent,
  { method = "POST", path, headers = {}, body }: RawRequest,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
    const request = http.request(
      { host: "127.0.0.1", port, agent, method, path, headers: { ...length, ...headers } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const fields = { ...fieldsOf(response.headers), ...fieldsOf(response.trailers) };
          resolve(toAnswer(response.statusCode ?? 0, fields, chunks));
        });
      },
    );
    request.on("error", reject);
    request.setTimeout(longestMs, () => request.destroy(new Error("no answer came")));
    request.end(body);
  });
}

/** One request over an HTTP/2 session; trailers are among the headers of the answer. */
export function exchangeTwo(
  session: http2.ClientHttp2Session,
  { method = "POST", path, headers = {}, body }: RawRequest,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const { host, ...others } = headers;
    const authority = host === undefined ? {} : { ":authority": host };
    const stream = session.request({ ":method": method, ":path": path, ...authority, ...others });
    const chunks: Buffer[] = [];
    let fields: Record<string, string> = {};
    const take = (more: http2.IncomingHttpHeaders) => (fields = { ...fields, ...fieldsOf(more) });
    stream.on("response", take);
    stream.on("trailers", take);
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("end", () => resolve(toAnswer(Number(fields[":status"]), fields, chunks)));
    stream.on("error", reject);
    stream.setTimeout(longestMs, () => stream.destroy(new Error("no answer came")));
    stream.end(body);
  });
}
