import type { Language } from "../texts/languages.ts";
import { type TextKey, texts } from "../texts/texts.ts";

/** Something that a person is told: an e-mail, or a message to a phone. */
export type Notification = {
  instanceId: string;
  organizationId: string;
  channel: "email" | "sms";
  to: string;
  subject: string;
  text: string;
};

/** Takes a message over; it may be delivered later. What it holds must not be logged. */
export type Notify = (message: Notification) => Promise<void>;

export type MessageKind = "passwordReset" | "verifyEmail" | "otp" | "registered";

/** The texts of a message: what it is for, the code in a line of its own, where to go, and what to do about a stray one. */
export function writeMessage(
  language: Language,
  kind: MessageKind,
  values: { loginName: string; code?: string; link?: string },
): Pick<Notification, "subject" | "text"> {
  const t = texts(language);
  const { loginName, code, link } = values;
  const key = (part: "subject" | "text"): TextKey => `message.${kind}.${part}`;
  const parts = [
    t(key("text"), { loginName }),
    link,
    code === undefined ? undefined : t("message.code", { code }),
    t("message.ignore"),
  ];
  return { subject: t(key("subject")), text: parts.filter(Boolean).join("\n\n") };
}
