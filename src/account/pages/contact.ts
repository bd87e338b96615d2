import { html } from "../../html.ts";
import type { Page } from "../../login/page.ts";
import { field } from "../../login/parts/field.ts";
import { button, form, submit } from "../../login/parts/form.ts";
import { accountLayout } from "../layout.ts";
import type { AccountPage } from "../own.ts";
import { list, way } from "../parts/list.ts";
import { accountPaths } from "../paths.ts";

export type ContactKind = "email" | "phone";

type Known = { address: string; isVerified: boolean };

export type ContactsView = { email?: Known; phone?: Known };

const signs = { email: "mail", phone: "phone" } as const;
const labels = { email: "field.email", phone: "field.phone" } as const;

/** Where the person is told things. */
export function contactsPage(page: AccountPage, view: ContactsView): string {
  const { t } = page;
  const rows = (["email", "phone"] as const).map((kind) => {
    const known = view[kind];
    const hint =
      known === undefined
        ? t("account.notSet")
        : html`<bdi>${known.address}</bdi> · ${stateOf(page, known)}`;
    return way({ path: accountPaths[kind], icon: signs[kind], title: t(labels[kind]), hint });
  });
  return accountLayout(
    page,
    { title: t("account.contact"), lead: t("account.contactText") },
    html`<ul class="choices">${rows}</ul>`,
  );
}

const stateOf = ({ t }: Page, { isVerified }: Known): string =>
  t(isVerified ? "account.confirmed" : "account.unconfirmed");

export type ContactView = {
  kind: ContactKind;
  known?: Known | undefined;
  /** What was typed before. */
  typed?: string | undefined;
  /** Where a code was sent to. */
  sentTo?: string | undefined;
};

/** One address or number. Sends `address` for another one; `code` for one to which a code was sent, `send` to have one sent, `stop`. */
export function contactPage(page: AccountPage, view: ContactView): string {
  const { t } = page;
  const { kind, known, sentTo } = view;
  const shape = {
    title: t(labels[kind]),
    parent: accountPaths.contact,
    ...(sentTo === undefined ? {} : { lead: sentText(page, kind, sentTo) }),
  };
  if (sentTo !== undefined) return accountLayout(page, shape, codeForm(page, view));
  const current = known && [
    {
      icon: signs[kind],
      title: html`<bdi>${known.address}</bdi>`,
      lines: [stateOf(page, known)],
    },
  ];
  return accountLayout(
    page,
    { ...shape, lead: t("account.contactRule") },
    html`${current && list(current)}
${known?.isVerified === false && form(page, { action: accountPaths[kind] }, button(t("account.confirm"), { name: "send", value: "true", look: "plain" }))}
${form(
  page,
  { action: accountPaths[kind] },
  html`${field(page, {
    name: "address",
    label: kind === "email" ? "account.newEmail" : "account.newPhone",
    type: kind === "email" ? "email" : "text",
    autocomplete: kind === "email" ? "email" : "tel",
    ...(kind === "email" ? { inputmode: "email" } : {}),
    value: view.typed,
  })}
${submit(t("forgot.submit"))}`,
)}`,
  );
}

const sentText = ({ t }: Page, kind: ContactKind, to: string): string =>
  kind === "email" ? t("verify.text", { address: to }) : t("smsCode.text", { phone: to });

const codeForm = (page: AccountPage, { kind }: ContactView) =>
  html`${form(
    page,
    { action: accountPaths[kind] },
    html`${field(page, {
      name: "code",
      label: "field.code",
      autocomplete: "one-time-code",
      inputmode: kind === "email" ? "text" : "numeric",
      maxLength: 40,
      isCode: true,
      isFirst: true,
    })}
${submit(page.t("common.continue"))}
${button(page.t("common.resend"), { name: "send", value: "true", look: "quiet" })}`,
  )}
<p class="aside"><a class="link" href="${accountPaths.contact}">${page.t("common.back")}</a></p>`;
