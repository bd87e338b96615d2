import { resolve } from "node:path";
import { backup } from "../app/backup.ts";
import { openKernel } from "../app/kernel.ts";
import { promote } from "../app/promote.ts";
import { createLogger } from "../telemetry/logger.ts";
import { type Context, configOf, exitCodes, print } from "./context.ts";

/** Writes the store anew, so that its files hold nothing of what was deleted. */
export async function vacuumCommand(context: Context): Promise<number> {
  const config = configOf(context);
  await using kernel = await openKernel(config, { logger: createLogger(config.logLevel) });
  await kernel.db.rewrite();
  print(context, { rewritten: true }, "the store is written anew: nothing deleted is left in it");
  return exitCodes.done;
}

export async function migrateCommand(context: Context): Promise<number> {
  const config = configOf(context);
  await using kernel = await openKernel(config, { logger: createLogger(config.logLevel) });
  const health = await kernel.db.health();
  print(
    context,
    { migrated: true, ...health },
    `the store (${health.engine} ${health.version}) has the schema of this build`,
  );
  return exitCodes.done;
}

export async function backupCommand(context: Context): Promise<number> {
  const file = resolve(context.argument);
  const { events, bytes } = await backup(configOf(context), file);
  print(
    context,
    { file, events: String(events), bytes },
    `${file} holds the store with ${events} events (${bytes} bytes); its jobs are held until idsvc jobs release`,
  );
  return exitCodes.done;
}

export async function promoteCommand(context: Context): Promise<number> {
  const config = configOf(context);
  const { stderr } = process;
  const onProgress = (table: string, rows: number) => {
    if (stderr.isTTY) stderr.write(`\r\x1b[K${table}: ${rows} rows`);
  };
  const logger = createLogger(config.logLevel);
  const sums = await promote(config, context.to, { logger, onProgress });
  if (stderr.isTTY) stderr.write("\r\x1b[K");
  const lines = [...sums].map(([table, { rows, sha256 }]) => `${sha256}  ${table} (${rows} rows)`);
  const next = "equal in both stores; serve with IDSVC_DATABASE_URL=<url> and the same master key";
  print(context, { tables: Object.fromEntries(sums) }, [...lines, next].join("\n"));
  return exitCodes.done;
}
