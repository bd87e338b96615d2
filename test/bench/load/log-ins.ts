import { text } from "node:stream/consumers";
import { userAgent } from "../../support/user-agent.ts";
import { percentile } from "../judge.ts";
import type { LoadResult, LogInSpec } from "./spec.ts";

// Logs in over the pages again and again for `runLoad`, which writes what to do to the input and reads what came of it.

const job = JSON.parse(await text(process.stdin)) as { spec: LogInSpec; seconds: number };
process.stdout.write(JSON.stringify(await run(job)));

async function run({ spec, seconds }: typeof job): Promise<LoadResult> {
  const times: number[] = [];
  let problem = "";
  const began = performance.now();
  const end = began + seconds * 1_000;
  const browser = async () => {
    while (performance.now() < end && problem === "") {
      const sent = performance.now();
      problem ||= await logIn(spec);
      times.push(performance.now() - sent);
    }
  };
  await Promise.all(Array.from({ length: spec.connections }, browser));
  return {
    requests: times.length,
    seconds: (performance.now() - began) / 1_000,
    p50: percentile(times, 50),
    p99: percentile(times, 99),
    problem,
  };
}

/** What went wrong; empty where the app got a code. */
async function logIn({ port, path, loginName, password }: LogInSpec): Promise<string> {
  const agent = userAgent(`http://localhost:${port}`);
  await agent.open(path);
  await agent.submit({ login_name: loginName });
  const { left, url, status } = await agent.submit({ password });
  return left?.searchParams.has("code") === true ? "" : `the log-in ended at ${url} (${status})`;
}
