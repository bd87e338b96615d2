import { html, type Html } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { outwardLink } from "../parts/form.ts";

export type DevelopmentMailView = {
  messages: readonly { to: string; subject: string; text: string; sentAt: Date }[];
};

/** Messages that were not sent, because the service runs for developers. */
export function developmentMailPage(page: Page, { messages }: DevelopmentMailView): string {
  const { t, language } = page;
  const time = new Intl.DateTimeFormat(language, {
    dateStyle: "medium",
    timeStyle: "medium",
    timeZone: "UTC",
  });
  const list = messages.map(
    ({
      to,
      subject,
      text,
      sentAt,
    }) => html`<article class="mail"><h2>${subject === "" ? t("mfa.sms") : subject}</h2>
<dl><div><dt>${t("mail.to")}</dt><dd>${to}</dd></div><div><dt>${t("mail.time")}</dt><dd><time datetime="${sentAt.toISOString()}">${time.format(sentAt)} UTC</time></dd></div></dl>
<pre>${withLinks(text)}</pre></article>`,
  );
  return layout(
    page,
    { title: t("mail.title"), lead: t("mail.text"), isWide: true },
    messages.length > 0 ? list : html`<p>${t("mail.none")}</p>`,
  );
}

const withLinks = (text: string): (string | Html)[] =>
  text.split(/(https?:\/\/\S+)/).map((part, at) => (at % 2 === 1 ? outwardLink(part, part) : part));
