// The built-in load generator: a process that reads one spec from its input and prints one result.
import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { percentile } from "../judge.ts";
import { canRunDry, counterDigits, counterMark, type LoadResult, type LoadSpec } from "./spec.ts";

type Job = { spec: LoadSpec; seconds: number; run: string };
type Sent = Pick<LoadSpec, "method" | "path" | "headers"> & { body: Buffer };
/** Sends one request and gives what is wrong with the answer, or nothing. */
type Send = (request: Sent) => Promise<string>;

const host = "127.0.0.1";
const { spec, seconds, run } = JSON.parse(await text(process.stdin)) as Job;
const template = Buffer.from(spec.body, "base64");
const bodies = spec.bodies?.map((each) => Buffer.from(each, "base64"));
const mark = spec.counted ? template.indexOf(counterMark) : -1;
let made = 0;

const { feed } = spec;
const pool = feed?.values ?? [];
const isOver = (): boolean => feed !== undefined && canRunDry(feed) && pool.length === 0;

function nextRequest(): Sent {
  const { method, path, headers } = spec;
  const next = pool.length > 0 ? feed?.next : undefined;
  if (feed !== undefined && (feed.next === undefined || next !== undefined)) {
    const of = next ?? spec;
    const form = Buffer.from(of.body, "base64").toString("utf8");
    const body = Buffer.from(form.replace(counterMark, pool.pop() ?? "none"));
    return { method: of.method, path: of.path, headers: of.headers, body };
  }
  const inTurn = bodies?.[made++ % bodies.length];
  if (inTurn !== undefined) return { method, path, headers, body: inTurn };
  if (mark === -1) return { method, path, headers, body: template };
  const body = Buffer.from(template);
  body.write(run + String(made++).padStart(counterDigits, "0"), mark, "latin1");
  return { method, path, headers, body };
}

/** What an answer gives for a request to come. */
function keep(location: string, answer: string): void {
  const value =
    feed?.again === undefined
      ? new URL(location, `http://${host}`).searchParams.get(feed?.next?.parameter ?? "")
      : new RegExp(`"${feed.again}":"([^"]+)"`).exec(answer)?.[1];
  if (typeof value === "string") pool.push(value);
}

function oneConnection(): Send {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const { port } = spec;
  return ({ method, path, headers, body }) =>
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
        let answer = "";
        response.setEncoding("utf8").on("data", (chunk: string) => (answer += chunk));
        response.once("end", () => {
          if (feed !== undefined) keep(response.headers.location ?? "", answer);
          resolve(status < 400 ? "" : `status ${status}`);
        });
      });
      request.end(body);
    });
}

async function grpcSession(): Promise<Send> {
  const session = http2.connect(`http://${host}:${spec.port}`);
  await once(session, "connect");
  const head = { ":method": spec.method, ":path": spec.path, ...spec.headers };
  return ({ body }) =>
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
const counted = started + (spec.warmUpSeconds ?? 0) * 1000;
const end = counted + seconds * 1000;
async function sendOne(send: Send, at: number): Promise<void> {
  const problem = await send(nextRequest());
  const now = performance.now();
  if (problem !== "") problems.set(problem, (problems.get(problem) ?? 0) + 1);
  // Of an open loop all count that were sent in time: those that end late are what it looks for.
  else if (at >= counted && (now <= end || spec.perSecond !== undefined)) latencies.push(now - at);
}

async function afterEachAnswer(): Promise<void> {
  const one = async (send: Send) => {
    for (let at = performance.now(); at < end && !isOver(); at = performance.now())
      await sendOne(send, at);
  };
  await Promise.all(
    senders.flatMap((send) => Array.from({ length: spec.streams }, () => one(send))),
  );
}

/** A request that finds no connection free waits for one, which counts as its time. */
async function atRate(perSecond: number): Promise<void> {
  const free = [...senders];
  const waiting: number[] = [];
  const underWay = new Set<Promise<void>>();
  const go = async (send: Send, at: number) => {
    await sendOne(send, at);
    const next = waiting.shift();
    if (next === undefined) free.push(send);
    else await go(send, next);
  };
  for (let sent = 0, at = started; at < end; at = performance.now()) {
    for (const due = ((at - started) / 1000) * perSecond; sent < due; sent++) {
      const send = free.pop();
      if (send === undefined) {
        waiting.push(at);
        continue;
      }
      const ended = go(send, at).finally(() => underWay.delete(ended));
      underWay.add(ended);
    }
    await delay(1);
  }
  await Promise.all(underWay);
}

await (spec.perSecond === undefined ? afterEachAnswer() : atRate(spec.perSecond));
const lasted = (Math.min(performance.now(), end) - counted) / 1000;
const result: LoadResult = {
  // A pair of requests is one of what is measured.
  requests: feed?.next === undefined ? latencies.length : latencies.length / 2,
  seconds: lasted,
  p50: percentile(latencies, 50),
  p99: percentile(latencies, 99),
  problem: [...problems].map(([what, count]) => `${count} x ${what}`).join(", "),
};
process.stdout.write(JSON.stringify(result));
process.exit(0);
