import type {
  PatchSMSProvider,
  SMSProvider,
} from "#gen/idsvc/resources/sms/v3alpha/sms_provider_pb.ts";
import {
  SMSProviderFieldNameSchema,
  SMSProviderSearchFilterSchema,
} from "#gen/idsvc/resources/sms/v3alpha/query_pb.ts";
import {
  defineMessageProviders,
  type MessageProviderKind,
  providerFixed,
} from "../messageprovider/index.ts";

/** An account at a gateway. An empty `url` is the gateway's public address. */
export type GatewayConfig = { kind: "gateway"; sid: string; senderNumber: string; url: string };

/** A service that is called over HTTP. */
export type HttpConfig = { kind: "http"; url: string };

export type SmsConfig = GatewayConfig | HttpConfig;

/** What sends text messages. */
export const smsKind: MessageProviderKind<SmsConfig> = {
  name: "sms",
  levels: ["instance"],
  searched: { filter: SMSProviderSearchFilterSchema, sort: SMSProviderFieldNameSchema },
  secret: "token",
  usesSecret: ({ kind }) => kind === "gateway",
  moves: (before, after) => (before.url === after.url ? undefined : "gateway_url"),
};

/** Where providers of text messages are kept. */
export const sms = defineMessageProviders(smsKind);

/** The configuration of a new provider. */
export const newConfig = ({ http, sid, senderNumber, gatewayUrl: url }: SMSProvider): SmsConfig =>
  http === undefined
    ? { kind: "gateway", sid, senderNumber, url }
    : { kind: "http", url: http.url };

/**
 * A configuration as a patch changes it.
 *
 * @throws FAILED_PRECONDITION SMS_PROVIDER_KIND_FIXED
 */
export function patchedConfig(before: SmsConfig, patch: PatchSMSProvider): SmsConfig {
  if (before.kind === "http") {
    const foreign = Object.entries(ofGateway).find(
      ([name]) => Reflect.get(patch, name) !== undefined,
    );
    if (foreign !== undefined) throw providerFixed(smsKind, foreign[1]);
    return { kind: "http", url: patch.http?.url ?? before.url };
  }
  if (patch.http !== undefined) throw providerFixed(smsKind, "http");
  const { sid = before.sid, senderNumber = before.senderNumber, gatewayUrl = before.url } = patch;
  return { kind: "gateway", sid, senderNumber, url: gatewayUrl };
}

const ofGateway = {
  sid: "sid",
  token: "token",
  senderNumber: "sender_number",
  gatewayUrl: "gateway_url",
} as const;
