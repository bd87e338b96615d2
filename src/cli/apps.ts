import { openKernel } from "../app/kernel.ts";
import {
  endLegacyApps,
  endLegacyAppsAt,
  findLegacyApps,
  findLegacyEndings,
} from "../app/legacy-apps.ts";
import { createLogger } from "../telemetry/logger.ts";
import { type Context, configOf, exitCodes, print } from "./context.ts";

/** Shows the apps that reach our APIs as before apps needed an access to them, and ends it on request, now or later. */
export async function legacyAppsCommand(context: Context): Promise<number> {
  const at = dateOf(context);
  if (at === "wrong") {
    process.stderr.write("--at is a date to come, such as 2027-01-31, and needs --end\n");
    return exitCodes.usage;
  }
  const config = configOf(context);
  await using kernel = await openKernel(config, { logger: createLogger(config.logLevel) });
  const endNow = context.end && at === undefined;
  const find = at === undefined ? findLegacyApps(kernel) : endLegacyAppsAt(kernel, at);
  const found = await (endNow ? endLegacyApps(kernel) : find);
  const endings = endNow ? new Map<string, Date>() : await findLegacyEndings(kernel);
  const apps = found.map(({ instanceId, id, name, clientId, organizationId }) => {
    const ends = endings.get(instanceId)?.toISOString();
    return {
      instance_id: instanceId,
      id,
      name,
      client_id: clientId,
      organization_id: organizationId,
      ...(ends === undefined ? {} : { ends_at: ends }),
    };
  });
  const lines = apps.map(({ id, name, client_id, ends_at }) => {
    const ending = ends_at === undefined ? "" : `, ends ${ends_at}`;
    return `${id}  ${name}  (client ${client_id}${ending})`;
  });
  const text = [
    endNow
      ? `ended the former access of ${apps.length} apps to the APIs of the service`
      : `${apps.length} apps reach the APIs of the service as before they needed an access; end it with --end, now or --at a date`,
    ...lines,
  ].join("\n");
  print(context, { ended: endNow, apps }, text);
  return exitCodes.done;
}

function dateOf({ end, at }: Context): Date | "wrong" | undefined {
  if (at === "") return undefined;
  const date = new Date(at);
  return end && date.getTime() > Date.now() ? date : "wrong";
}
