import { html } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { copyButton } from "../parts/copy.ts";
import { field } from "../parts/field.ts";
import { form, link, submit } from "../parts/form.ts";
import { qrPicture } from "../parts/qr-picture.ts";
import { paths } from "../paths.ts";

export type SetupTotpView = {
  /** `otpauth://` */
  uri: string;
  /** The secret in Base32, for those who type. */
  secret: string;
};

/** Shows the secret of an authenticator app and asks for its first code. Sends `code`. */
export function setupTotpPage(page: Page, { uri, secret }: SetupTotpView): string {
  const { t } = page;
  const groups = secret.match(/.{1,4}/g) ?? [];
  return layout(
    page,
    { title: t("setupTotp.title"), scripts: ["login.js"] },
    html`<ol class="steps">
<li><p>${t("setupTotp.scan")}</p>${qrPicture(uri, t("setupTotp.picture"))}
<p class="small" id="manual">${t("setupTotp.manual")}</p><p class="secret" id="secret" aria-labelledby="manual">${groups.map((group) => html`<span>${group}</span>`)}</p>
<div class="tools">${uri.startsWith("otpauth:") && html`<a class="button plain" href="${uri}">${t("setupTotp.open")}</a>`}${copyButton(page, "secret")}</div></li>
<li><p id="enter">${t("setupTotp.enter")}</p>
${form(
  page,
  { action: paths.setupTotp },
  html`${field(page, { name: "code", label: "field.code", autocomplete: "one-time-code", inputmode: "numeric", maxLength: 12, isCode: true, describedBy: "enter" })}
${submit(t("common.continue"))}`,
)}</li>
</ol>
<p class="aside">${link(page, paths.setup, t("common.otherWay"))}</p>`,
  );
}
