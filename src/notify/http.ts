import type { EgressClient } from "../egress/client.ts";
import { EgressError } from "../egress/error.ts";
import { signatureOf } from "../egress/signature.ts";
import { messageDelayed, MessageRefused } from "./failure.ts";
import type { GatewayProvider, HttpProvider, Message } from "./provider.ts";

const timeoutMs = 15_000;

type Parts = { outside: Pick<EgressClient, "call">; now: () => Date };

/**
 * Posts a message to a service of the owner's: `{channel, to, subject, text, html, sender}` as JSON, signed like calls of
 * targets, with the id of the notice as `IDSVC-Delivery`: the same in each attempt.
 *
 * @throws MessageRefused for 4xx other than 408 and 429, UNAVAILABLE MESSAGE_DELAYED for all else that fails
 */
export async function sendByHttp(
  { outside, now }: Parts,
  { id, url, signingKey, sender }: HttpProvider,
  { channel, to, subject, text, html }: Message,
  { deliveryId, signal }: { deliveryId: string; signal: AbortSignal },
): Promise<void> {
  const body = JSON.stringify({ channel, to, subject, text, html, sender });
  const headers = {
    "content-type": "application/json",
    "idsvc-signature": signatureOf(signingKey, body, now()),
    "idsvc-delivery": deliveryId,
  };
  await post(outside, id, { url, headers, body, signal });
}

/**
 * Posts a message to an SMS gateway: the form `To`, `From`, `Body`, authenticated by `sid` and `token`.
 *
 * @throws as `sendByHttp`
 */
export async function sendByGateway(
  { outside }: Parts,
  { id, url, sid, token, senderNumber }: GatewayProvider,
  { to, text }: Message,
  signal: AbortSignal,
): Promise<void> {
  const body = new URLSearchParams({ To: to, From: senderNumber, Body: text }).toString();
  const headers = {
    "content-type": "application/x-www-form-urlencoded",
    authorization: `Basic ${Buffer.from(`${sid}:${token}`).toString("base64")}`,
  };
  const address = `${url.replace(/\/$/, "")}/Accounts/${encodeURIComponent(sid)}/Messages.json`;
  await post(outside, id, { url: address, headers, body, signal });
}

async function post(
  outside: Parts["outside"],
  id: string,
  call: { url: string; headers: Record<string, string>; body: string; signal: AbortSignal },
): Promise<void> {
  const answer = await outside
    .call({ method: "POST", ...call, timeoutMs, headOnly: true })
    .catch((error: unknown) => {
      if (!(error instanceof EgressError)) throw error;
      throw messageDelayed(id, error.message);
    });
  const { status } = answer;
  if (status >= 200 && status < 300) return;
  const isPassing = status >= 500 || status === 408 || status === 429 || status < 400;
  throw isPassing ? messageDelayed(id, `${status}`) : new MessageRefused(id, `${status}`);
}
