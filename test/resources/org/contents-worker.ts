import { loadConfig } from "../../../src/app/config.ts";
import { jobHandlers } from "../../../src/app/jobs.ts";
import { openKernel } from "../../../src/app/kernel.ts";
import { policiesOf } from "../../../src/app/policies.ts";
import { startJobWorker } from "../../../src/jobs/worker.ts";
import type { ServiceDeps } from "../../../src/app/deps.ts";
import { silentLogger } from "../../../src/telemetry/logger.ts";

/** A process that works on the jobs of a store, with leases that end soon, and waits to be killed. */
const kernel = await openKernel(loadConfig({ files: [], flags: {}, env: process.env }), {
  logger: silentLogger(),
});
// Of what slices get, removing contents needs no more.
const { db, events, secrets, newId, now } = kernel;
const policies = policiesOf(db);
const deps = { db, events, secrets, policies, newId, now } as unknown as ServiceDeps;
startJobWorker({
  db,
  handlers: jobHandlers(kernel, deps),
  holder: `process ${process.pid}`,
  now,
  onFailure: ({ error }) => console.error(error),
  pace: { leaseMs: 150, renewMs: 50, pollMs: 20 },
});
setInterval(() => {}, 60_000);
