import { examine, type Findings, storeUnsound } from "../app/examine.ts";
import { openKernel } from "../app/kernel.ts";
import { findLegacyApps } from "../app/legacy-apps.ts";
import { version } from "../build.ts";
import { DomainError } from "../errors.ts";
import { createLogger } from "../telemetry/logger.ts";
import { type Context, configOf, exitCodes, print } from "./context.ts";

// The store cannot be looked into: that is what the doctor was asked, and no failure of the command.
const illnesses = ["STORE_DAMAGED", "STORE_STRAY_LOG", "STORE_LOG_MISSING", "STORE_UNREADABLE"];

/** Looks at the whole store; ends with `no` when it is damaged, or a projection differs. */
export async function doctorCommand(context: Context): Promise<number> {
  try {
    return await lookAt(context);
  } catch (error) {
    if (!(error instanceof DomainError) || !illnesses.includes(error.reason)) throw error;
    // Clients of the API are not told which file it is; its private half tells.
    const { message, reason } = error.cause instanceof DomainError ? error.cause : error;
    const store = { sound: false, reason, message };
    print(
      context,
      { healthy: false, version, node: process.version, store },
      `idsvc ${version}, Node ${process.version}\nstore: ${message}`,
    );
    return exitCodes.no;
  }
}

async function lookAt(context: Context): Promise<number> {
  const config = configOf(context);
  await using kernel = await openKernel(config, { logger: createLogger("warn") });
  const store = await kernel.db.health(true);
  if (!store.sound) throw storeUnsound(config);
  const findings = await examine(kernel);
  const legacy = await findLegacyApps(kernel);
  const { jobs, projections, subscriptions } = findings;
  const differing = Object.keys(projections).filter((name) => projections[name]?.differing !== 0);
  const healthy = differing.length === 0;
  const lags = Object.entries(subscriptions);
  const result = {
    healthy,
    version,
    node: process.version,
    store,
    store_format: findings.storeFormat,
    logs: findings.logs,
    events: String(findings.events),
    subscriptions: Object.fromEntries(
      lags.map(([name, { events, most }]) => [
        name,
        { events_behind: String(events), most_of_an_instance: String(most) },
      ]),
    ),
    jobs: {
      open: jobs.open,
      due: jobs.due,
      dead: jobs.dead,
      held_since: jobs.heldSince?.toISOString() ?? null,
    },
    projections,
    differing_projections: differing,
    concerns: findings.concerns.map(({ name, text, count, some }) => ({ name, text, count, some })),
    legacy_apps: legacy.map(({ instanceId, id, name, clientId }) => ({
      instance_id: instanceId,
      id,
      name,
      client_id: clientId,
    })),
  };
  print(
    context,
    result,
    [
      `idsvc ${version}, Node ${process.version}`,
      `store: ${store.engine} ${store.version}, format ${store.format}, sound`,
      `log: ${findings.events} events of ${findings.logs} instances`,
      ...lags.map(([name, { events }]) => `subscription ${name}: ${events} events behind`),
      jobLine(jobs),
      ...(legacy.length === 0
        ? []
        : [
            `apps: ${legacy.length} reach the APIs of the service as before they needed an access (${legacy.map(({ name }) => name).join(", ")}); end it with idsvc apps legacy --end`,
          ]),
      differing.length === 0
        ? "projections: equal to a fresh fold of the log"
        : `projections: ${differing.join(", ")} differ; run idsvc projections rebuild`,
      ...findings.concerns.map(
        ({ text, count, some }) => `concern: ${count} ${text} (${some.join(", ")})`,
      ),
    ].join("\n"),
  );
  return healthy ? exitCodes.done : exitCodes.no;
}

const jobLine = ({ open, due, dead, heldSince }: Findings["jobs"]): string =>
  `jobs: ${open} open, ${due} of them due, ${dead} dead` +
  (heldSince === undefined
    ? ""
    : `; held since ${heldSince.toISOString()}, run idsvc jobs release`);
