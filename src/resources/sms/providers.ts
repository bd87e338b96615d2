import type { Deps } from "../../projection/module.ts";
import { providerReader, type SmsProvider } from "../messageprovider/index.ts";
import { sms } from "./config.ts";

const publicGateway = "https://api.twilio.com/2010-04-01";

/** Gives the provider that sends the text messages of an instance, with its secret; undefined where none does. */
export function smsProviderOf(
  parts: Pick<Deps, "db" | "secrets">,
): (instanceId: string) => Promise<SmsProvider | undefined> {
  const reader = providerReader(parts, sms.storage);
  return async (instanceId) => {
    const found = await reader.inForce(instanceId);
    if (found === undefined) return undefined;
    const { id, config, secret } = found;
    if (config.kind === "http") return { kind: "http", id, url: config.url, signingKey: secret };
    const { sid, senderNumber } = config;
    const url = config.url === "" ? publicGateway : config.url;
    return { kind: "gateway", id, url, sid, token: Buffer.from(secret).toString(), senderNumber };
  };
}
