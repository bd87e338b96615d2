import type { Deps } from "../../projection/module.ts";
import { providerReader } from "../messageprovider/index.ts";
import { sms } from "./config.ts";

/** A service that gets each message as JSON, signed as calls of targets are (X6). */
export type HttpProvider = { kind: "http"; id: string; url: string; signingKey: Uint8Array };

/** A gateway that takes messages as a form at `/Accounts/<sid>/Messages.json` of its address. */
export type GatewayProvider = {
  kind: "gateway";
  id: string;
  url: string;
  sid: string;
  token: string;
  senderNumber: string;
};

export type SmsProvider = HttpProvider | GatewayProvider;

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
