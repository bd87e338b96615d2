import { type Kernel, openKernel } from "../app/kernel.ts";
import { rebuildProjections, verifyProjections } from "../projection/rebuild.ts";
import { createLogger } from "../telemetry/logger.ts";
import { type Context, configOf, exitCodes, print } from "./context.ts";

const open = (context: Context): Promise<Kernel> => {
  const config = configOf(context);
  return openKernel(config, { logger: createLogger(config.logLevel) });
};

export async function verifyCommand(context: Context): Promise<number> {
  await using kernel = await open(context);
  const differences = await verifyProjections(kernel, kernel.projectionTables);
  const lines = [...differences].map(([table, rows]) =>
    rows === 0 ? `${table}: equal` : `${table}: ${rows} rows differ`,
  );
  print(context, Object.fromEntries(differences), lines.join("\n"));
  return [...differences.values()].some((rows) => rows > 0) ? exitCodes.no : exitCodes.done;
}

export async function rebuildCommand(context: Context): Promise<number> {
  await using kernel = await open(context);
  let replayed = 0;
  await rebuildProjections(
    { ...kernel, onProgress: (events) => (replayed = events) },
    kernel.projectionTables,
  );
  print(context, { replayed_events: replayed }, `rebuilt from ${replayed} events`);
  return exitCodes.done;
}
