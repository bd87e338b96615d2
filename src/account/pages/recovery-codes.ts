import { html } from "../../html.ts";
import { copyButton } from "../../login/parts/copy.ts";
import { button, form, link, submit } from "../../login/parts/form.ts";
import { accountLayout } from "../layout.ts";
import type { AccountPage } from "../own.ts";
import { list } from "../parts/list.ts";
import { accountPaths } from "../paths.ts";

const action = accountPaths.recoveryCodes;

/** How many recovery codes are left. Sends `make` for new ones. */
export function recoveryCodesPage(
  page: AccountPage,
  { left }: { left: number | undefined },
): string {
  const { t } = page;
  const state = left === undefined ? t("account.off") : t("account.codesLeft", { count: left });
  return accountLayout(
    page,
    {
      title: t("account.recoveryCodes"),
      lead: t("account.recoveryCodesText"),
      parent: accountPaths.security,
    },
    html`${list([{ icon: "lifebuoy", title: t("account.recoveryCodes"), lines: [state] }])}
${form(page, { action }, button(t("account.makeCodes"), { name: "make", value: "true", id: "submit" }))}`,
  );
}

/** Shows new codes, to copy, save as a file or print. Sends `saved`. */
export function newRecoveryCodesPage(
  page: AccountPage,
  { codes }: { codes: readonly string[] },
): string {
  const { t } = page;
  return accountLayout(
    page,
    {
      title: t("recoveryCodes.title"),
      lead: t("recoveryCodes.text"),
      scripts: ["login.js"],
      parent: accountPaths.security,
    },
    html`<ol class="recovery" id="codes">${codes.map((code) => html`<li><code>${code}</code></li>`)}</ol>
<div class="tools">${link(page, `${action}?as=file`, t("recoveryCodes.download"), "button plain")}
${copyButton(page, "codes")}
<button type="button" class="button plain" data-prints hidden>${t("recoveryCodes.print")}</button></div>
${form(page, { action }, submit(t("recoveryCodes.submit"), { name: "saved", value: "true" }))}`,
  );
}
