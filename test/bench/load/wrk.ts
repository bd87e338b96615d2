import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atExit, loadCore, runPinned } from "../process.ts";
import { counterDigits, counterMark, type LoadResult, type LoadSpec, nextRun } from "./spec.ts";

type Report = {
  requests: number;
  us: number;
  p50: number;
  p99: number;
  connect: number;
  read: number;
  write: number;
  status: number;
  timeout: number;
};

const quote = (text: string): string => JSON.stringify(text).replaceAll(/\\u00/g, "\\x");

/** Load over HTTP/1.1 by wrk. It counts every status from 400 on as an error. */
export async function wrkLoad(spec: LoadSpec, seconds: number): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), "idsvc-bench-wrk-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const callOff = atExit(remove);
  try {
    const script = join(folder, "load.lua");
    writeFileSync(script, lua(spec));
    const url = `http://127.0.0.1:${spec.port}${spec.path}`;
    const flags = [
      "-t1",
      `-c${spec.connections}`,
      `-d${seconds}s`,
      "--timeout",
      "30s",
      "-s",
      script,
      url,
    ];
    const out = await runPinned(loadCore, ["wrk", ...flags]);
    const [, json = "{}"] = /^RESULT (.*)$/m.exec(out) ?? [];
    const report = JSON.parse(json) as Report;
    const problems = (["connect", "read", "write", "status", "timeout"] as const)
      .filter((kind) => report[kind] > 0)
      .map((kind) => `${report[kind]} ${kind} errors`);
    if (!(report.requests > 0)) problems.push(`wrk made no request: ${out}`);
    return {
      requests: report.requests,
      seconds: report.us / 1e6,
      p50: report.p50 / 1000,
      p99: report.p99 / 1000,
      problem: problems.join(", "),
    };
  } finally {
    callOff();
    remove();
  }
}

function lua({ method, headers, body, counted }: LoadSpec): string {
  const text = Buffer.from(body, "base64").toString("utf8");
  const fields = Object.entries(headers).map(
    ([name, value]) => `wrk.headers[${quote(name)}] = ${quote(value)}`,
  );
  const [before = "", after = ""] = text.split(counterMark);
  const request = counted
    ? `local n = 0
local before, after = ${quote(before + nextRun())}, ${quote(after)}
request = function()
  n = n + 1
  return wrk.format(nil, nil, nil, before .. string.format("%0${counterDigits}d", n) .. after)
end`
    : text === ""
      ? ""
      : `wrk.body = ${quote(text)}`;
  return `wrk.method = ${quote(method)}
${fields.join("\n")}
${request}
done = function(summary, latency)
  local e = summary.errors
  io.write(string.format('RESULT {"requests":%d,"us":%d,"p50":%d,"p99":%d,"connect":%d,"read":%d,"write":%d,"status":%d,"timeout":%d}\\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    e.connect, e.read, e.write, e.status, e.timeout))
end
`;
}
