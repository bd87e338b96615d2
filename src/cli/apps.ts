import { openKernel } from "../app/kernel.ts";
import { endLegacyApps, findLegacyApps } from "../app/legacy-apps.ts";
import { createLogger } from "../telemetry/logger.ts";
import { type Context, configOf, exitCodes, print } from "./context.ts";

/** Shows the apps that reach our APIs as before apps needed an access to them, and ends it on request. */
export async function legacyAppsCommand(context: Context): Promise<number> {
  const config = configOf(context);
  await using kernel = await openKernel(config, { logger: createLogger(config.logLevel) });
  const found = await (context.end ? endLegacyApps(kernel) : findLegacyApps(kernel));
  const apps = found.map(({ instanceId, id, name, clientId, organizationId }) => ({
    ...{ instance_id: instanceId, id, name, client_id: clientId },
    organization_id: organizationId,
  }));
  const lines = apps.map(({ id, name, client_id }) => `${id}  ${name}  (client ${client_id})`);
  const text = [
    context.end
      ? `ended the former access of ${apps.length} apps to the APIs of the service`
      : `${apps.length} apps reach the APIs of the service as before they needed an access; end it with --end`,
    ...lines,
  ].join("\n");
  print(context, { ended: context.end, apps }, text);
  return exitCodes.done;
}
