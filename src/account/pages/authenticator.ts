import { html } from "../../html.ts";
import { copyButton } from "../../login/parts/copy.ts";
import { field } from "../../login/parts/field.ts";
import { button, form, submit } from "../../login/parts/form.ts";
import { qrPicture } from "../../login/parts/qr-picture.ts";
import { accountLayout } from "../layout.ts";
import type { AccountPage } from "../own.ts";
import { list, press } from "../parts/list.ts";
import { accountPaths } from "../paths.ts";

const action = accountPaths.authenticator;

/** The authenticator app. Sends `begin`, or `remove` with the id of one. */
export function authenticatorPage(page: AccountPage, { ids }: { ids: readonly string[] }): string {
  const { t } = page;
  const items = ids.map((id) => ({
    icon: "phone" as const,
    title: t("mfa.totp"),
    lines: [t("account.on")],
    action: press(page, { action, name: "remove", value: id, label: t("account.remove") }),
  }));
  return accountLayout(
    page,
    { title: t("mfa.totp"), lead: t("account.authenticatorText"), parent: accountPaths.security },
    items.length > 0
      ? list(items)
      : form(
          page,
          { action },
          button(t("account.setUp"), { name: "begin", value: "true", id: "submit" }),
        ),
  );
}

/** Shows the secret of an authenticator app and asks for its first code. Sends `code`. */
export function newAuthenticatorPage(
  page: AccountPage,
  { uri, secret }: { uri: string; secret: string },
): string {
  const { t } = page;
  const groups = secret.match(/.{1,4}/g) ?? [];
  return accountLayout(
    page,
    { title: t("setupTotp.title"), scripts: ["login.js"], parent: accountPaths.security },
    html`<ol class="steps">
<li><p>${t("setupTotp.scan")}</p>${qrPicture(uri, t("setupTotp.picture"))}
<p class="small" id="manual">${t("setupTotp.manual")}</p><p class="secret" id="secret" aria-labelledby="manual">${groups.map((group) => html`<span>${group}</span>`)}</p>
<div class="tools"><a class="button plain" href="${uri}">${t("setupTotp.open")}</a>${copyButton(page, "secret")}</div></li>
<li><p id="enter">${t("setupTotp.enter")}</p>
${form(
  page,
  { action },
  html`${field(page, { name: "code", label: "field.code", autocomplete: "one-time-code", inputmode: "numeric", maxLength: 12, isCode: true, describedBy: "enter" })}
${submit(t("common.continue"))}`,
)}</li>
</ol>
<p class="aside"><a class="link" href="${accountPaths.security}">${t("common.back")}</a></p>`,
  );
}
