import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { percentile } from "../judge.ts";
import { atExit, loadCore, runPinned } from "../process.ts";
import type { LoadResult, LoadSpec } from "./spec.ts";

/** Load over HTTP/2 by h2load. */
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
    const shape = [`-c${spec.connections}`, `-m${spec.streams}`, "-t1", "-D", String(seconds)];
    const files = ["-d", data, `--log-file=${log}`];
    const out = await runPinned(loadCore, ["h2load", ...shape, ...files, ...headers, url]);
    const number = (pattern: RegExp) => Number(pattern.exec(out)?.[1] ?? Number.NaN);
    const requests = number(/, (\d+) succeeded/);
    const latencies = readFileSync(log, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => Number(line.slice(line.lastIndexOf("\t") + 1)) / 1000);
    const problems = ["failed", "errored", "timeout"]
      .map((kind) => [number(new RegExp(`, (\\d+) ${kind}`)), kind] as const)
      .filter(([count]) => count > 0)
      .map(([count, kind]) => `${count} ${kind}`);
    const bytes = number(/\((\d+)\) data/);
    const { answerBytes } = spec;
    // What is under way at the end is answered after the count. Whole numbers: it may well be all of it.
    const most = requests + spec.connections * spec.streams;
    if (
      answerBytes !== undefined &&
      !(bytes >= answerBytes * requests * 0.999 && bytes <= answerBytes * most)
    ) {
      problems.push(
        `answers have ${(bytes / requests).toFixed(1)} bytes instead of ${answerBytes}`,
      );
    }
    if (!(requests > 0)) problems.push(`h2load made no request: ${out}`);
    return {
      requests,
      seconds,
      p50: percentile(latencies, 50),
      p99: percentile(latencies, 99),
      problem: problems.join(", "),
    };
  } finally {
    callOff();
    remove();
  }
}
