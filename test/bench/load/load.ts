import { join } from "node:path";
import { loadCore, runPinned, tools } from "../process.ts";
import { h2load } from "./h2load.ts";
import { canRunDry, type LoadResult, type LoadSpec, type LogInSpec, nextRun } from "./spec.ts";
import { wrkLoad } from "./wrk.ts";

const generator = join(import.meta.dirname, "generator.ts");
const logIns = join(import.meta.dirname, "log-ins.ts");

/**
 * Which generator drives a spec: h2load sends one body only, and wrk speaks HTTP/1.1 only and knows no rate. Where values may be used up, only the
 * one built in can end the load with them.
 */
export function generatorOf(spec: LoadSpec): "wrk" | "h2load" | "built-in" {
  const { protocol, method, counted, bodies, feed, perSecond } = spec;
  if (bodies !== undefined || (feed !== undefined && canRunDry(feed))) return "built-in";
  if (perSecond !== undefined) {
    const isAlike = method === "POST" && !counted && feed === undefined;
    return tools.h2load && protocol === "http1" && isAlike ? "h2load" : "built-in";
  }
  if (protocol === "http1") return tools.wrk ? "wrk" : "built-in";
  return tools.h2load && !counted ? "h2load" : "built-in";
}

/** Drives one case from the load core for so long. */
export async function runLoad(spec: LoadSpec | LogInSpec, seconds: number): Promise<LoadResult> {
  if (spec.protocol === "pages") {
    const job = JSON.stringify({ spec, seconds });
    return JSON.parse(await runPinned(loadCore, [process.execPath, logIns], job));
  }
  // Both count whole seconds alone.
  switch (Number.isInteger(seconds) ? generatorOf(spec) : "built-in") {
    case "wrk":
      return wrkLoad(spec, seconds);
    case "h2load":
      return h2load(spec, seconds);
    case "built-in": {
      const job = JSON.stringify({ spec, seconds, run: nextRun() });
      return JSON.parse(await runPinned(loadCore, [process.execPath, generator], job));
    }
  }
}
