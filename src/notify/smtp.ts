import { createTransport } from "nodemailer";
import type { EgressClient } from "../egress/client.ts";
import { EgressError } from "../egress/error.ts";
import { loginRefused, messageDelayed, MessageRefused } from "./failure.ts";
import type { Message, SmtpProvider } from "./provider.ts";

const ports = [25, 465, 587, 2525];
const connectMs = 10_000;
// A server that takes a byte at a time must not hold a slot for longer.
const talkMs = 30_000;

/**
 * Hands a message to a mail server, on a connection of its own by the guarded way out (X13).
 *
 * @throws MessageRefused for answers that stand (5xx), FAILED_PRECONDITION MESSAGE_LOGIN_REFUSED for user and password that the server
 * does not take, UNAVAILABLE MESSAGE_DELAYED for all else that fails
 */
export async function sendBySmtp(
  outside: Pick<EgressClient, "connect">,
  provider: SmtpProvider,
  { to, subject, text, html }: Message,
  signal: AbortSignal,
): Promise<void> {
  const { id, host, port, tls, user, password, sender, replyTo } = provider;
  const limits = { timeoutMs: connectMs, signal };
  let ended = (): void => {};
  const connection = await outside
    .connect({ host, port, tls: false, ports }, limits)
    .catch((error: unknown) => {
      throw messageDelayed(id, error instanceof EgressError ? error.message : "no connection");
    });
  const transport = createTransport({
    host,
    port,
    connection,
    secure: tls && port === 465,
    requireTLS: tls,
    ignoreTLS: !tls,
    ...(user === "" ? {} : { auth: { user, pass: password } }),
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    socketTimeout: talkMs,
    tls: { servername: host, minVersion: "TLSv1.2" },
    // Nothing is read from files or addresses that a message might name.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const late = new Promise<never>((_, reject) => {
    const end = () => reject(messageDelayed(id, "it did not take the message in time"));
    const timer = setTimeout(end, talkMs);
    signal.addEventListener("abort", end, { once: true });
    ended = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
    };
  });
  try {
    const from = { address: sender.address, name: sender.name };
    const mail = { from, to: { address: to, name: "" }, subject, text, html };
    const headers = { "Auto-Submitted": "auto-generated" };
    const sending = transport.sendMail({ ...mail, headers, ...(replyTo && { replyTo }) });
    sending.catch(() => undefined);
    await Promise.race([sending, late]);
  } catch (error) {
    throw judged(id, error);
  } finally {
    ended();
    transport.close();
    connection.destroy();
  }
}

function judged(id: string, error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error)) return error;
  const status = "responseCode" in error ? Number(error.responseCode) : 0;
  // Of the answer only its number is told: its text may hold the address.
  const what = status === 0 ? String(error.code) : `${status}`;
  // Only what is said of the message stands: a wrong password, a sender who is not allowed, a server without TLS can be mended.
  const isOfMessage = error.code === "EENVELOPE" || error.code === "EMESSAGE";
  const isOfSender = "command" in error && error.command === "MAIL FROM";
  // Who waits does not make a wrong password right, and whoever tests is told.
  if (error.code === "EAUTH" && (status === 0 || status >= 500)) return loginRefused(id, what);
  const stands = isOfMessage && !isOfSender && (status === 0 || status >= 500);
  return stands ? new MessageRefused(id, what) : messageDelayed(id, what);
}
