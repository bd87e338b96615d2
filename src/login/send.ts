import { challengeIn } from "./prove.ts";
import type { RouteParts } from "./route.ts";
import type { Visit } from "./visit.ts";
import { type MessageKind, writeMessage } from "./notify.ts";
import { texts } from "../texts/texts.ts";

/** Sends a one-time password to where the user has registered it. */
export async function sendCode(
  parts: RouteParts,
  visit: Visit,
  session: { id: string; user: { id: string; organizationId: string } },
  channel: "email" | "sms",
): Promise<void> {
  const { instanceId } = visit.at;
  const asked = await challengeIn(
    parts,
    visit,
    session.id,
    channel === "email"
      ? { otpEmail: { delivery: { case: "returnCode", value: {} } } }
      : { otpSms: { returnCode: true } },
  );
  const code = channel === "email" ? asked?.otpEmail : asked?.otpSms;
  const to = await parts.people.otpAddress(instanceId, session.user.id, channel);
  if (code === undefined || to === undefined) return;
  const { organizationId } = session.user;
  if (channel === "email") {
    const { loginName } = await parts.people.account(instanceId, session.user.id);
    await tell(parts, visit, { to, organizationId, kind: "otp", loginName, code });
    return;
  }
  const { productName: product } = await parts.brandingOf({ instanceId, organizationId });
  const text = texts(visit.language)("message.otp.sms", { code, product });
  await parts.notify({ instanceId, organizationId, channel, to, subject: "", text });
}

/** Writes an e-mail in the language of the page. */
export async function tell(
  { notify }: RouteParts,
  { at, language }: Visit,
  message: {
    to: string;
    organizationId: string;
    kind: MessageKind;
    loginName: string;
    code?: string;
    link?: string;
  },
): Promise<void> {
  const { to, organizationId, kind, ...values } = message;
  const written = writeMessage(language, kind, values);
  await notify({ instanceId: at.instanceId, organizationId, channel: "email", to, ...written });
}
