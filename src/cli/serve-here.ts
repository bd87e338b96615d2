import { existsSync } from "node:fs";
import { startApp } from "../app/app.ts";
import { bootstrap } from "../app/bootstrap.ts";
import { type Bootstrap, bootstrapFile } from "../app/bootstrap-file.ts";
import { clockConcern } from "../app/clock-behind.ts";
import type { Config } from "../app/config.ts";
import { openKernel } from "../app/kernel.ts";
import { findLegacyApps } from "../app/legacy-apps.ts";
import { tracingOf } from "../app/tracing.ts";
import { version } from "../build.ts";
import { allowsLoopbackByDefault } from "../egress/url-guard.ts";
import { DomainError } from "../errors.ts";
import { createLogger } from "../telemetry/logger.ts";
import { exitCodes } from "./context.ts";
import { growSlowly } from "./heap.ts";
import { giveBackWhenIdle } from "./idle-memory.ts";
import { joinWorkers } from "./worker.ts";

/** Callers hear of a store that broke before the process ends. */
const lastWordMs = 100;

/** Serves in this process until a signal; the first one stops in order, the second at once (H4). */
export async function serveHere(config: Config, env: NodeJS.ProcessEnv): Promise<number> {
  const started = performance.now();
  const { siblings, isFirst, ready, ...store } = joinWorkers();
  const root = createLogger(config.logLevel);
  const logger = siblings.number === undefined ? root : root.child({ worker: siblings.number });
  // One call's defect is no reason to end those of everybody else.
  process.on("unhandledRejection", (err) => {
    logger.error({ err }, "a failure that nobody waited for: report it as a defect");
  });
  await using tracing = await tracingOf(env, logger);
  await using kernel = await openKernel(config, {
    logger,
    tracing,
    serves: true,
    processes: siblings.count,
    ...store,
    onBroken(err) {
      const why =
        err instanceof DomainError
          ? err.message
          : "the disk failed to keep a commit: start again to recover";
      logger.fatal({ err }, `ending: ${why}`);
      logger.flush();
      setTimeout(endAsByCrash, lastWordMs);
    },
  });
  const made = await bootstrap(kernel);
  // Nothing that may fail comes after the first caller.
  const legacy = made === undefined ? await findLegacyApps(kernel) : [];
  const { risks, ...health } = await kernel.db.health();
  for (const risk of risks) logger.warn(`the database: ${risk}`);
  const clock = await clockConcern(kernel);
  if (clock.count > 0) logger.warn(`${clock.count} ${clock.text} (${clock.some.join()})`);
  // From its first answer on the service ends in order.
  const stopping = stopSignal(siblings.number !== undefined);
  const app = await startApp(kernel, { siblings });
  logger.info(
    {
      version,
      node: process.version,
      store: health,
      port: app.port,
      metricsPort: app.metricsPort,
      ms: Math.round(performance.now() - started),
    },
    "serving",
  );
  if (allowsLoopbackByDefault(config.egressAllow, config.externalUrl)) {
    logger.info(
      "targets on loopback are allowed, because the external URL is localhost and IDSVC_EGRESS_ALLOW is not set",
    );
  }
  if (legacy.length > 0) {
    logger.warn(
      { apps: legacy.map(({ instanceId, id, name }) => ({ instanceId, id, name })) },
      "apps reach the APIs of the service as before they needed an access: see idsvc apps legacy",
    );
  }
  growSlowly();
  giveBackWhenIdle();
  ready();
  if (isFirst) {
    process.stdout.write(made === undefined ? again(config) : welcome(made, config));
  }
  await stopping;
  logger.info("stopping");
  await app[Symbol.asyncDispose]();
  logger.info("stopped");
  logger.flush();
  return exitCodes.done;
}

// An orderly end would close the store, which flushes it again as if nothing had happened.
const endAsByCrash = () => process.kill(process.pid, "SIGKILL");

/**
 * @param isWorker what is sent to a group of processes reaches the one that has started this one too, which says what happens: the
 *   interrupt of a terminal, or the end of a unit of systemd, after which it sends a second one
 */
function stopSignal(isWorker: boolean): Promise<void> {
  return new Promise((resolve) => {
    if (isWorker) process.on("SIGINT", () => undefined);
    const signals = isWorker ? (["SIGTERM"] as const) : (["SIGTERM", "SIGINT"] as const);
    let asked = false;
    for (const signal of signals) {
      process.on(signal, () => {
        if (asked && !isWorker) process.exit(exitCodes.failed);
        asked = true;
        resolve();
      });
    }
  });
}

function again({ externalUrl, dataDir }: Config): string {
  const file = bootstrapFile(dataDir);
  const made = existsSync(file) ? `, administrator and token as of the first start: ${file}` : "";
  return `\nidsvc serves on ${externalUrl}${made}\n${consoleAt(externalUrl)}\n`;
}

/** Where a log takes what is printed it holds no secrets: packages for servers say so (IDSVC_BOOTSTRAP_PRINT). */
function welcome(made: Bootstrap, { dataDir, bootstrapPrint }: Config): string {
  const { issuer, admin, organization_id } = made;
  const file = bootstrapFile(dataDir);
  const secrets = bootstrapPrint
    ? shown(made, file)
    : existsSync(file)
      ? `  secrets       password and token: ${file} (readable by its user only)\n`
      : "  secrets       password and token as they were given\n";
  return `
idsvc serves on ${issuer}

  issuer        ${issuer}
  organization  ${organization_id}
  administrator ${admin.login_name}
${secrets}
Keep a way back in: let the administrator set up a second factor and keep its recovery codes, or make
somebody else an IAM_OWNER too. Without either, \`idsvc recover\` on this machine is the only one.
${bootstrapPrint ? firstCall(made) : ""}
${consoleAt(issuer)}
`;
}

const shown = ({ admin, machine }: Bootstrap, file: string): string =>
  `  password      ${admin.password}
  token         ${machine.token}
                (of the machine user ${machine.login_name}, an IAM_OWNER)

The secrets are shown this once; they are also in ${file} (readable by you only).
`;

const firstCall = ({ issuer, machine }: Bootstrap): string => `Try it:

  curl -sS ${issuer}/resources/v3alpha/targets \\
    -H 'Authorization: Bearer ${machine.token}' \\
    -H 'Content-Type: application/json' \\
    -d '{"name":"audit","rest_webhook":{"url":"https://example.com/hook"},"timeout":"5s"}'
`;

const consoleAt = (origin: string): string => `The console: ${origin}/ui/console\n`;
