/** A mail server. `tls`: over TLS only. Empty `user`: nobody is told. Empty `replyTo`: answers go to the sender. */
export type SmtpProvider = {
  kind: "smtp";
  id: string;
  host: string;
  port: number;
  tls: boolean;
  user: string;
  password: string;
  sender: { address: string; name: string };
  replyTo: string;
};

/** A service that gets each message as JSON, signed as calls of targets are (X6). Only mails have a sender. */
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
