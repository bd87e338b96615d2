import { html } from "../html.ts";
import { deniable, type NoticeTopic } from "../resources/user/index.ts";
import type { Language } from "../texts/languages.ts";
import { readsAsLink } from "../texts/links.ts";
import { isTextKey, type TextKey, type Translate } from "../texts/texts.ts";
import type { Message } from "./provider.ts";

/** What messages look like beside their words. */
export type Look = {
  productName: string;
  /** Of the button, and of what is written on it. */
  brand: string;
  onBrand: string;
  logoUrl: string | undefined;
};

export type MessageValues = {
  loginName: string;
  code?: string | undefined;
  link?: string | undefined;
  domain?: string | undefined;
  account?: string | undefined;
  endsAt?: Date | undefined;
  browser?: string | undefined;
  app?: string | undefined;
};

const keys: Record<NoticeTopic | "test", string> = {
  initialization: "invitation",
  "email.verification": "verifyEmail",
  "email.login": "emailLogin",
  "phone.verification": "verifyPhone",
  "password.reset": "passwordReset",
  "passkey.registration": "passkey",
  otp: "otp",
  "password.changed": "passwordChanged",
  registration: "registration",
  registered: "registered",
  "domain.claimed": "domainClaimed",
  "recovery.link": "recoveryLink",
  "owners.ending": "ownersEnding",
  "email.changed": "emailChanged",
  "phone.changed": "phoneChanged",
  "browser.new": "newBrowser",
  "factor.added": "factorAdded",
  "factor.removed": "factorRemoved",
  "recovery_code.used": "recoveryCodeUsed",
  "recovery_codes.made": "recoveryCodesMade",
  "offline.allowed": "offlineAllowed",
  test: "test",
};

const keyOf = (topic: NoticeTopic | "test", part: "subject" | "text" | "sms"): TextKey => {
  const key = `message.${keys[topic]}.${part}`;
  if (!isTextKey(key)) throw new Error(`there is no text ${key}`);
  return key;
};

// A code that is also in the link is of no use apart from it where there is no page that waits for it.
const withoutCode: ReadonlySet<string> = new Set([
  "initialization",
  "passkey.registration",
  ...deniable,
]);

// Nobody asked for these: to do nothing would be the wrong advice.
const unasked: ReadonlySet<string> = new Set([
  "domain.claimed",
  "recovery.link",
  "owners.ending",
  "test",
  ...deniable,
]);

/** An e-mail: what it is about, where to go, the code in a line of its own, and what to do about a stray one. */
export function writeEmail(
  { t, language, look }: { t: Translate; language: Language; look: Look },
  topic: NoticeTopic | "test",
  values: MessageValues,
): Pick<Message, "subject" | "text" | "html"> {
  const { loginName, code, link, domain = "", account = "", endsAt, browser = "" } = values;
  const app = harmless(values.app ?? "");
  const product = look.productName;
  const subject = t(keyOf(topic, "subject"), { product, account });
  const date = endsAt === undefined ? "" : written(endsAt, language);
  const text = t(keyOf(topic, "text"), {
    loginName,
    product,
    domain,
    account,
    date,
    app,
    browser: browser || "?",
  });
  const shownCode = withoutCode.has(topic) ? undefined : code;
  const ignore = unasked.has(topic) ? undefined : t("message.ignore");
  const lines = [text, link, shownCode && t("message.code", { code: shownCode }), ignore];
  const paragraph = "margin:0 0 16px;font-size:16px;line-height:1.5;white-space:pre-line";
  const page = html`<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>${subject}</title></head>
<body style="margin:0;padding:24px 12px;font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif">
<div style="max-width:32rem;margin:0 auto${language === "ja" && ";word-break:auto-phrase"}">
<p style="margin:0 0 24px;font-size:20px;font-weight:600">${look.logoUrl !== undefined && html`<img src="${look.logoUrl}" alt="" height="32" style="height:32px;vertical-align:middle;margin-right:8px">`}${product}</p>
<h1 style="margin:0 0 16px;font-size:22px;line-height:1.3;text-wrap:balance">${subject}</h1>
<p style="${paragraph}">${text}</p>
${link !== undefined && html`<p style="${paragraph}"><a href="${link}" style="display:inline-block;padding:12px 20px;border-radius:8px;background:${look.brand};color:${look.onBrand};text-decoration:none;font-weight:600">${t("message.open")}</a></p>`}
${shownCode !== undefined && html`<p style="margin:0 0 16px;font-size:28px;letter-spacing:4px;font-family:ui-monospace,monospace">${shownCode}</p>`}
${ignore !== undefined && html`<p style="margin:24px 0 0;font-size:14px;line-height:1.5;opacity:0.75">${ignore}</p>`}
</div>
</body>
</html>
`;
  return { subject, text: lines.filter(Boolean).join("\n\n"), html: page.toString() };
}

/** A name that a tenant has chosen, with nothing in it that mail programs would make a link of (J9). */
const harmless = (name: string): string =>
  readsAsLink(name) ? name.replaceAll(/[^\p{L}\p{N}]+/gu, " ") : name;

/** A time as the language writes it; nobody knows the time zone of who reads it. */
const written = (date: Date, language: Language): string =>
  new Intl.DateTimeFormat(language, {
    dateStyle: "long",
    timeStyle: "long",
    timeZone: "UTC",
  }).format(date);

/** A message to a phone: one line. */
export const writeSms = (
  t: Translate,
  topic: NoticeTopic | "test",
  values: { code: string; product: string },
): Pick<Message, "subject" | "text"> => ({
  subject: "",
  text: topic === "test" ? t("message.test.text", values) : t(keyOf(topic, "sms"), values),
});

/** Fills in the template of a link that a caller gave; values are written so that none can change where it leads. */
export const fillTemplate = (template: string, values: Record<string, string>): string =>
  template.replaceAll(/\{\{\s*\.([A-Za-z]+)\s*\}\}/g, (all, name: string) =>
    Object.hasOwn(values, name) ? encodeURIComponent(values[name] ?? "") : all,
  );
