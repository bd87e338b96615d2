import { openKernel } from "../app/kernel.ts";
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
