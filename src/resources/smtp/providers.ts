import type { Deps } from "../../projection/module.ts";
import {
  type MailProvider,
  providerReader,
  type UsableProvider,
} from "../messageprovider/index.ts";
import { type MailConfig, smtp } from "./config.ts";

/** Gives the provider that sends the mails of an instance, with its secret; undefined where none does. */
export const mailProviderOf = (parts: Pick<Deps, "db" | "secrets">) => mailProviders(parts).inForce;

/** Gives a provider as who sends by it needs it, in force or not. */
export const mailProviders = (parts: Pick<Deps, "db" | "secrets">) =>
  providerReader(parts, smtp.storage, toMailProvider);

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
