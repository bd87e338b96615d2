import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atExit, loadCore, runPinned } from "../process.ts";
import {
  counterDigits,
  counterMark,
  type Feed,
  type LoadResult,
  type LoadSpec,
  nextRun,
} from "./spec.ts";

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
  starved: number;
};

const quote = (text: string): string => JSON.stringify(text).replaceAll(/\\u00/g, "\\x");

/** Load over HTTP/1.1 by wrk. It counts every status from 400 on as an error. */
export async function wrkLoad(spec: LoadSpec, seconds: number): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), "idsvc-bench-wrk-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const callOff = atExit(remove);
  try {
    const [script, values] = [join(folder, "load.lua"), join(folder, "values")];
    // LuaJIT holds no more than 65,536 constants.
    writeFileSync(values, spec.feed?.values.map((value) => `${value}\n`).join("") ?? "");
    writeFileSync(script, lua(spec, values));
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
    if (report.starved > 0) problems.push(`${report.starved} requests had no value left to carry`);
    if (!(report.requests > 0)) problems.push(`wrk made no request: ${out}`);
    // A pair of requests is one of what is measured.
    const requests = spec.feed?.next === undefined ? report.requests : report.requests / 2;
    return {
      requests,
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

/** Requests that carry values of a pool; what the answers give goes back into it, or into a second request. */
function fed(
  { method, path, headers, body, feed }: LoadSpec & { feed: Feed },
  values: string,
): string {
  const make = (one: Pick<LoadSpec, "method" | "path" | "headers" | "body">) => {
    const [before = "", after] = Buffer.from(one.body, "base64")
      .toString("utf8")
      .split(counterMark);
    const fields = Object.entries(one.headers).map(
      ([name, value]) => `[${quote(name)}] = ${quote(value)}`,
    );
    const text =
      after === undefined ? quote(before) : `${quote(before)} .. value .. ${quote(after)}`;
    const sent = one.body === "" ? "nil" : text;
    return `wrk.format(${quote(one.method)}, ${quote(one.path)}, {${fields.join(", ")}}, ${sent})`;
  };
  const { again, next } = feed;
  const first =
    next === undefined
      ? `local value = table.remove(pool)
  if value == nil then
    starved = starved + 1
    value = "none"
  end
  return ${make({ method, path, headers, body })}`
      : `local value = table.remove(pool)
  if value ~= nil then return ${make(next)} end
  return ${make({ method, path, headers, body })}`;
  const answer =
    again !== undefined
      ? `local value = string.match(body, '"${again}":"([^"]+)"')`
      : next === undefined
        ? ""
        : `local value = string.match(headers["location"] or headers["Location"] or "", "[?&]${next.parameter}=([^&]+)")`;
  return `starved = 0
local pool = {}
for value in io.lines(${quote(values)}) do pool[#pool + 1] = value end
request = function()
  ${first}
end
${
  answer === ""
    ? ""
    : `response = function(status, headers, body)
  ${answer}
  if value ~= nil then pool[#pool + 1] = value end
end`
}`;
}

function lua(spec: LoadSpec, values: string): string {
  const { method, headers, body, counted, feed } = spec;
  const text = Buffer.from(body, "base64").toString("utf8");
  const fields = Object.entries(headers).map(
    ([name, value]) => `wrk.headers[${quote(name)}] = ${quote(value)}`,
  );
  const [before = "", after = ""] = text.split(counterMark);
  const request =
    feed !== undefined
      ? fed({ ...spec, feed }, values)
      : counted
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
local thread
setup = function(each) thread = each end
done = function(summary, latency)
  local e = summary.errors
  io.write(string.format('RESULT {"requests":%d,"us":%d,"p50":%d,"p99":%d,"connect":%d,"read":%d,"write":%d,"status":%d,"timeout":%d,"starved":%d}\\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    e.connect, e.read, e.write, e.status, e.timeout, thread:get("starved") or 0))
end
`;
}
