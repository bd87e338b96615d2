import type { Deps } from "../../projection/module.ts";
import { providerReader, type SmsProvider, type UsableProvider } from "../messageprovider/index.ts";
import { sms, type SmsConfig } from "./config.ts";

const publicGateway = "https://api.twilio.com/2010-04-01";

/** Gives the provider that sends the text messages of an instance, with its secret; undefined where none does. */
export const smsProviderOf = (parts: Pick<Deps, "db" | "secrets">) =>
  providerReader(parts, sms.storage, toSmsProvider).inForce;

function toSmsProvider({ id, config, secret }: UsableProvider<SmsConfig>): SmsProvider {
  if (config.kind === "http") return { kind: "http", id, url: config.url, signingKey: secret };
  const { sid, senderNumber } = config;
  const url = config.url === "" ? publicGateway : config.url;
  return { kind: "gateway", id, url, sid, token: Buffer.from(secret).toString(), senderNumber };
}
