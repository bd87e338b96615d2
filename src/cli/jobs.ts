import { openKernel } from "../app/kernel.ts";
import { holdJobs, jobsHeldSince, releaseJobs } from "../app/jobs.ts";
import { createLogger } from "../telemetry/logger.ts";
import { type Context, configOf, exitCodes, print } from "./context.ts";

export async function holdCommand(context: Context): Promise<number> {
  const config = configOf(context);
  await using kernel = await openKernel(config, { logger: createLogger(config.logLevel) });
  await holdJobs(kernel.db, kernel.now());
  const text = "no job is begun until idsvc jobs release";
  print(context, { held: true }, text);
  return exitCodes.done;
}

export async function releaseCommand(context: Context): Promise<number> {
  const config = configOf(context);
  await using kernel = await openKernel(config, { logger: createLogger(config.logLevel) });
  const since = await jobsHeldSince(kernel.db);
  await releaseJobs(kernel.db);
  const text = since === undefined ? "no jobs were held" : "the jobs are worked on again";
  print(context, { held: false, since: since?.toISOString() ?? null }, text);
  return exitCodes.done;
}
