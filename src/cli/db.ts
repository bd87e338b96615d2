import { openKernel } from "../app/kernel.ts";
import { createLogger } from "../telemetry/logger.ts";
import { type Context, configOf, exitCodes, print } from "./context.ts";

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
