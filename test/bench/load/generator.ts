// The built-in load generator: a process that reads one spec from its input and prints one result.
import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import { text } from "node:stream/consumers";
import { percentile } from "../judge.ts";
import { counterDigits, counterMark, type LoadResult, type LoadSpec } from "./spec.ts";

type Job = { spec: LoadSpec; seconds: number; run: string };
/** Sends one request and gives what is wrong with the answer, or nothing. */
type Send = (body: Buffer) => Promise<string>;

const host = "127.0.0.1";
const { spec, seconds, run } = JSON.parse(await text(process.stdin)) as Job;
const template = Buffer.from(spec.body, "base64");
const mark = spec.counted ? template.indexOf(counterMark) : -1;
let made = 0;

function nextBody(): Buffer {
  if (mark === -1) return template;
  const body = Buffer.from(template);
  body.write(run + String(made++).padStart(counterDigits, "0"), mark, "latin1");
  return body;
}

function oneConnection(): Send {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const { port, method, path, headers } = spec;
  return (body) =>
    new Promise((resolve, reject) => {
      const length = body.length === 0 ? {} : { "content-length": String(body.length) };
      const request = http.request({
        host,
        port,
        agent,
        method,
        path,
        headers: { ...headers, ...length },
      });
      request.once("error", reject);
      request.once("response", (response) => {
        const status = response.statusCode ?? 0;
        response.resume();
        response.once("end", () => resolve(status < 300 ? "" : `status ${status}`));
      });
      request.end(body);
    });
}

async function grpcSession(): Promise<Send> {
  const session = http2.connect(`http://${host}:${spec.port}`);
  await once(session, "connect");
  const head = { ":method": spec.method, ":path": spec.path, ...spec.headers };
  return (body) =>
    new Promise((resolve, reject) => {
      const stream = session.request(head);
      let status = "";
      let grpcStatus = "";
      stream.on("response", (fields) => {
        status = String(fields[":status"]);
        grpcStatus = String(fields["grpc-status"] ?? grpcStatus);
      });
      stream.on("trailers", (fields) => (grpcStatus = String(fields["grpc-status"] ?? "")));
      stream.on("error", reject);
      stream.on("end", () =>
        resolve(
          status === "200" && grpcStatus === "0"
            ? ""
            : `status ${status}, grpc-status ${grpcStatus}`,
        ),
      );
      stream.resume();
      stream.end(body);
    });
}

const latencies: number[] = [];
const problems = new Map<string, number>();
const senders = await Promise.all(
  Array.from({ length: spec.connections }, async () =>
    spec.protocol === "http1" ? oneConnection() : await grpcSession(),
  ),
);
const started = performance.now();
const end = started + seconds * 1000;
await Promise.all(
  senders.flatMap((send) =>
    Array.from({ length: spec.streams }, async () => {
      for (let at = performance.now(); at < end; at = performance.now()) {
        const problem = await send(nextBody());
        const now = performance.now();
        if (problem !== "") problems.set(problem, (problems.get(problem) ?? 0) + 1);
        else if (now <= end) latencies.push(now - at);
      }
    }),
  ),
);
const result: LoadResult = {
  requests: latencies.length,
  seconds,
  p50: percentile(latencies, 50),
  p99: percentile(latencies, 99),
  problem: [...problems].map(([what, count]) => `${count} x ${what}`).join(", "),
};
process.stdout.write(JSON.stringify(result));
process.exit(0);
