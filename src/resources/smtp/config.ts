import {
  SMTPProviderFieldNameSchema,
  SMTPProviderSearchFilterSchema,
} from "#gen/idsvc/resources/smtp/v3alpha/query_pb.ts";
import type {
  PatchSMTPProvider,
  SMTPProvider,
} from "#gen/idsvc/resources/smtp/v3alpha/smtp_provider_pb.ts";
import { failedPrecondition } from "../../errors.ts";
import {
  defineMessageProviders,
  type MessageProviderKind,
  providerFixed,
} from "../messageprovider/index.ts";

/** Who mails come from. Empty texts are not told. */
type Sender = { senderAddress: string; senderName: string; replyToAddress: string };

/** A mail server. Without `user` nobody is told; `host` is a name or an address, without its port. */
export type SmtpConfig = Sender & {
  kind: "smtp";
  host: string;
  port: number;
  tls: boolean;
  user: string;
};

/** A service that is called over HTTP. */
export type HttpConfig = Sender & { kind: "http"; url: string };

export type MailConfig = SmtpConfig | HttpConfig;

/** What sends mails. A password goes where the server is, in clear without TLS. */
export const smtpKind: MessageProviderKind<MailConfig> = {
  name: "smtp",
  levels: ["system", "instance"],
  searched: { filter: SMTPProviderSearchFilterSchema, sort: SMTPProviderFieldNameSchema },
  secret: "password",
  usesSecret: (config) => config.kind === "smtp" && config.user !== "",
  moves(before, after) {
    if (before.kind !== "smtp" || after.kind !== "smtp") return undefined;
    if (before.host !== after.host || before.port !== after.port) return "host";
    return before.tls === after.tls ? undefined : "tls";
  },
};

/** Where providers of mails are kept. */
export const smtp = defineMessageProviders(smtpKind);

/** The configuration of a new provider. */
export function newConfig(wanted: SMTPProvider): MailConfig {
  const { senderAddress, senderName, replyToAddress, tls, user, http, host } = wanted;
  const sender = { senderAddress, senderName, replyToAddress };
  return http === undefined
    ? { kind: "smtp", ...sender, ...splitHost(host), tls, user }
    : { kind: "http", ...sender, url: http.url };
}

/**
 * A configuration as a patch changes it.
 *
 * @throws FAILED_PRECONDITION SMTP_PROVIDER_KIND_FIXED, SMTP_PROVIDER_USER_REQUIRED
 */
export function patchedConfig(before: MailConfig, patch: PatchSMTPProvider): MailConfig {
  const {
    senderAddress = before.senderAddress,
    senderName = before.senderName,
    replyToAddress = before.replyToAddress,
  } = patch;
  const sender = { senderAddress, senderName, replyToAddress };
  if (before.kind === "http") {
    const foreign = (["host", "tls", "user", "password"] as const).find(
      (field) => patch[field] !== undefined,
    );
    if (foreign !== undefined) throw providerFixed(smtpKind, foreign);
    return { kind: "http", ...sender, url: patch.http?.url ?? before.url };
  }
  if (patch.http !== undefined) throw providerFixed(smtpKind, "http");
  const { tls = before.tls, user = before.user } = patch;
  if (patch.password !== undefined && user === "") throw userRequired();
  const address = patch.host === undefined ? before : splitHost(patch.host);
  return { kind: "smtp", ...sender, host: address.host, port: address.port, tls, user };
}

// The schema lets only `host:port` pass, IPv6 addresses in brackets.
function splitHost(hostAndPort: string): { host: string; port: number } {
  const at = hostAndPort.lastIndexOf(":");
  const host = hostAndPort.slice(0, at).replace(/^\[(.*)\]$/, "$1");
  return { host, port: Number(hostAndPort.slice(at + 1)) };
}

/** A mail server as the API names it. */
export const joinHost = ({ host, port }: Pick<SmtpConfig, "host" | "port">): string =>
  host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;

const userRequired = () =>
  failedPrecondition(
    "SMTP_PROVIDER_USER_REQUIRED",
    "a password is of no use without a user: send smtp_provider.user as well",
  );
