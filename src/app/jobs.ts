import type { JobHandler, JobHandlers } from "../jobs/job.ts";
import { jobsHeldSince } from "../jobs/hold.ts";
import { countJobs } from "../jobs/metrics.ts";
import { startSweeper } from "../jobs/sweeper.ts";
import { type JobFailure, startJobWorker } from "../jobs/worker.ts";
import type { ServiceDeps } from "./deps.ts";
import { instanceContentsJobs } from "../resources/instance/index.ts";
import { organizationContentsJobs } from "../resources/org/index.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Kernel } from "./kernel.ts";
import { traceJobs } from "./traced.ts";

export { holdJobs, jobsHeldSince, releaseJobs } from "../jobs/hold.ts";

/** The handlers of all slices, and of what is done over all of them; a kind that has two stops the start. */
export function jobHandlers(
  { modules, holdings }: Pick<Kernel, "modules" | "holdings">,
  deps: ServiceDeps,
  more: JobHandlers = {},
): JobHandlers {
  const handlers: JobHandlers = {};
  const removers = modules.flatMap(({ contents }) => contents?.(deps) ?? []);
  const overAll = [organizationContentsJobs(deps, removers), instanceContentsJobs(deps, holdings)];
  const all = [...modules.map(({ jobs }) => jobs?.(deps) ?? {}), ...overAll, more];
  for (const [kind, handler] of all.flatMap(Object.entries<JobHandler>)) {
    if (Object.hasOwn(handlers, kind)) throw new Error(`two slices do jobs of the kind ${kind}`);
    handlers[kind] = handler;
  }
  return handlers;
}

/** Begins to work on the jobs of all slices, until disposed. */
export function startJobs(
  kernel: Kernel,
  handlers: JobHandlers,
  metrics: Metrics,
): AsyncDisposable {
  const { config, db, logger, now, tracing } = kernel;
  metrics.gauge("idsvc_jobs", "Stored jobs, by kind and state (open, dead).", () =>
    countJobs(db, Object.keys(handlers)),
  );
  void jobsHeldSince(db).then(
    (since) => since && logger.warn({ since }, "jobs are held: idsvc jobs release lets them go"),
    // The worker asks as well, and tells of it.
    () => undefined,
  );
  return startJobWorker({
    db,
    handlers: tracing === undefined ? handlers : traceJobs(tracing, handlers),
    holder: db.processName,
    now,
    pace: { stopWithinMs: config.shutdownTimeoutMs },
    onFailure({ error: err, job, next }: JobFailure) {
      const about = job && { job: job.id, kind: job.kind, instance: job.instanceId };
      const facts = { err, ...about, attempt: job?.attempts };
      if (next === "dead") logger.error(facts, "a job is given up");
      else if (next === undefined) logger.error(facts, "a job cannot be read or kept");
      else logger.warn({ ...facts, next }, "a job failed and is tried again");
    },
  });
}

/** Begins to remove what has expired in all slices, until disposed. */
export const sweepAll = ({ modules, logger }: Kernel, deps: ServiceDeps): AsyncDisposable =>
  startSweeper({
    sweeps: modules.flatMap(({ sweeps }) => sweeps?.(deps) ?? []),
    onError: (err) => logger.error({ err }, "what has expired cannot be removed"),
  });
