import { openKernel } from "../app/kernel.ts";
import { makeRecoveryLink } from "../app/recover.ts";
import { createLogger } from "../telemetry/logger.ts";
import { type Context, configOf, exitCodes, print } from "./context.ts";

/** Prints a link that leads back into an account: whoever has the machine and its master key needs nothing else. */
export async function recoverCommand(context: Context): Promise<number> {
  const config = configOf(context);
  await using kernel = await openKernel(config, { logger: createLogger(config.logLevel) });
  const { user: loginName, instance: domain } = context;
  const made = await makeRecoveryLink(kernel, {
    loginName,
    domain: domain === "" ? undefined : domain,
  });
  const { instanceId, userId, link, expiresAt } = made;
  const result = {
    instance_id: instanceId,
    user_id: userId,
    link,
    expiration_date: expiresAt.toISOString(),
  };
  const text = [
    link,
    `It works once, until ${expiresAt.toISOString()}. It sets a new password and ends every other way into the account.`,
    "The owners of the instance are told.",
  ].join("\n");
  print(context, result, text);
  return exitCodes.done;
}
