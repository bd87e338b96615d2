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

/** A mail server. */
export type SmtpProvider = {
  kind: "smtp";
  id: string;
  host: string;
  port: number;
  /** Only over TLS: from the start on port 465, else by STARTTLS, which then must be offered. */
  tls: boolean;
  user: string;
  password: string;
  sender: { address: string; name: string };
  replyTo: string;
};

/** A service of one's own: gets each message as signed JSON (decisions D6). */
export type HttpProvider = {
  kind: "http";
  id: string;
  url: string;
  signingKey: Uint8Array;
  sender?: { address: string; name: string };
};

/** A gateway that takes messages as a form at `/Accounts/<sid>/Messages.json` of its address. */
export type GatewayProvider = {
  kind: "gateway";
  id: string;
  url: string;
  sid: string;
  token: string;
  senderNumber: string;
};

export type MailProvider = SmtpProvider | HttpProvider;
export type SmsProvider = HttpProvider | GatewayProvider;

/** The providers that are in force. */
export type Providers = {
  mail(instanceId: string, organizationId: string): Promise<MailProvider | undefined>;
  sms(instanceId: string): Promise<SmsProvider | undefined>;
};
