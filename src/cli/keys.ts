import { openKernel } from "../app/kernel.ts";
import { rotateMasterKey } from "../app/master-key.ts";
import { createLogger } from "../telemetry/logger.ts";
import { type Context, configOf, exitCodes, print } from "./context.ts";

export async function rotateCommand(context: Context): Promise<number> {
  const config = configOf(context);
  await using kernel = await openKernel(config, { logger: createLogger(config.logLevel) });
  const rewrapped = await rotateMasterKey(kernel);
  const { id } = kernel.masterKeys.current;
  const text = `all keys are under the master key ${id}, ${rewrapped} instances of them since now`;
  print(context, { rewrapped_instances: rewrapped, master_key: id }, text);
  return exitCodes.done;
}
