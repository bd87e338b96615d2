import type {
  GatewayProvider,
  HttpProvider,
  MailProvider,
  SmsProvider,
  SmtpProvider,
} from "../resources/messageprovider/index.ts";

export type { GatewayProvider, HttpProvider, MailProvider, SmsProvider, SmtpProvider };

/** A message as it leaves, whatever carries it. */
export type Message = {
  instanceId: string;
  organizationId: string;
  channel: "email" | "sms";
  to: string;
  /** Empty for a message to a phone. */
  subject: string;
  text: string;
  html?: string;
};

/** The providers that are in force, of the channels that there are. */
export type Providers = {
  mail?(instanceId: string, organizationId: string): Promise<MailProvider | undefined>;
  sms?(instanceId: string): Promise<SmsProvider | undefined>;
};
