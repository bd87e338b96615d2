import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { percentile } from "../judge.ts";
import { atExit, loadCore, runPinned } from "../process.ts";
import type { LoadResult, LoadSpec } from "./spec.ts";

/**
 * Load by h2load, over HTTP/2, or over HTTP/1.1 at a rate. Each of its connections then sends when it is due, one request at a time.
 */
export async function h2load(spec: LoadSpec, seconds: number): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), "idsvc-bench-h2-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const callOff = atExit(remove);
  try {
    const [data, log] = [join(folder, "data"), join(folder, "log")];
    writeFileSync(data, Buffer.from(spec.body, "base64"));
    const headers = Object.entries(spec.headers).flatMap(([name, value]) => [
      "-H",
      `${name}: ${value}`,
    ]);
    const url = `http://127.0.0.1:${spec.port}${spec.path}`;
    const shape = [`-c${spec.connections}`, "-t1", ...durationFlags(spec, seconds)];
    const files = ["-d", data, `--log-file=${log}`];
    const out = await runPinned(loadCore, ["h2load", ...shape, ...files, ...headers, url]);
    const number = (pattern: RegExp) => Number(pattern.exec(out)?.[1] ?? Number.NaN);
    const answered = number(/, (\d+) succeeded/);
    const latencies = latenciesIn(readFileSync(log, "utf8"), spec.warmUpSeconds ?? 0);
    const { connections, perSecond } = spec;
    const requests = perSecond === undefined ? answered : latencies.length;
    const times =
      perSecond === undefined ? latencies : withWaits(latencies, (1000 * connections) / perSecond);
    const problems = ["failed", "errored", "timeout"]
      .map((kind) => [number(new RegExp(`, (\\d+) ${kind}`)), kind] as const)
      .filter(([count]) => count > 0)
      .map(([count, kind]) => `${count} ${kind}`);
    const bytes = number(/\((\d+)\) data/);
    const { answerBytes } = spec;
    // What is under way at the end is answered after the count. Whole numbers: it may well be all of it.
    const most = answered + spec.connections * spec.streams;
    if (
      answerBytes !== undefined &&
      !(bytes >= answerBytes * answered * 0.999 && bytes <= answerBytes * most)
    ) {
      problems.push(
        `answers have ${(bytes / answered).toFixed(1)} bytes instead of ${answerBytes}`,
      );
    }
    if (!(requests > 0)) problems.push(`h2load made no request: ${out}`);
    return {
      requests,
      seconds,
      p50: percentile(times, 50),
      p99: percentile(times, 99),
      problem: problems.join(", "),
    };
  } finally {
    callOff();
    remove();
  }
}

/**
 * A connection sends nothing while it waits for an answer: what was due meanwhile counts from when it was due.
 *
 * @param apart milliseconds from one request of a connection to its next
 */
export const withWaits = (latencies: readonly number[], apart: number): number[] =>
  latencies.flatMap((ms) =>
    Array.from({ length: Math.max(1, Math.ceil(ms / apart)) }, (_, nth) => ms - nth * apart),
  );

/** For how long, or at a rate how many requests. */
function durationFlags(
  { connections, streams, perSecond, warmUpSeconds = 0 }: LoadSpec,
  seconds: number,
) {
  if (perSecond === undefined) return [`-m${streams}`, "-D", String(seconds)];
  const requests = Math.ceil(perSecond * (warmUpSeconds + seconds));
  // A connection a millisecond: all that begin at once would send at once.
  const apart = ["-r1", "--rate-period=1ms", `--rps=${perSecond / connections}`];
  return ["--h1", "-m1", "-n", String(requests), ...apart];
}

/** Milliseconds of each request, of those that were sent after the warm-up. Lines are: microseconds of the start, status, microseconds. */
function latenciesIn(log: string, warmUpSeconds: number): number[] {
  const lines = log.split("\n").filter((line) => line !== "");
  const requests = lines.map((line) => line.split("\t").map(Number) as [number, number, number]);
  const first = requests.reduce((least, [start]) => Math.min(least, start), Infinity);
  const counted = first + warmUpSeconds * 1e6;
  return requests.filter(([start]) => start >= counted).map(([, , took]) => took / 1000);
}
