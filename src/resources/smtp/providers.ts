import type { Deps } from "../../projection/module.ts";
import {
  type MailProvider,
  providerReader,
  type SeenProvider,
  type UsableProvider,
} from "../messageprovider/index.ts";
import { type MailConfig, smtp } from "./config.ts";

/**
 * Gives the provider that sends the mails of an instance, with its secret; undefined where none does. Organizations have
 * none of their own.
 */
export function mailProviderOf(
  parts: Pick<Deps, "db" | "secrets">,
): (instanceId: string, organizationId?: string) => Promise<MailProvider | undefined> {
  const reader = providerReader(parts, smtp.storage);
  return async (instanceId) => {
    const found = await reader.inForce(instanceId);
    return found && toMailProvider(found);
  };
}

/** Gives a provider as who sends by it needs it, in force or not. */
export function mailProviders(parts: Pick<Deps, "db" | "secrets">): {
  of(row: SeenProvider<MailConfig>["row"]): Promise<MailProvider>;
} {
  const reader = providerReader(parts, smtp.storage);
  return { of: async (row) => toMailProvider(await reader.use(row)) };
}

function toMailProvider({ id, config, secret }: UsableProvider<MailConfig>): MailProvider {
  const sender = { address: config.senderAddress, name: config.senderName };
  if (config.kind === "http") {
    const known = config.senderAddress === "" ? {} : { sender };
    return { kind: "http", id, url: config.url, signingKey: secret, ...known };
  }
  const { host, port, tls, user, replyToAddress: replyTo } = config;
  const password = Buffer.from(secret).toString();
  return { kind: "smtp", id, host, port, tls, user, password, sender, replyTo };
}
