import { html } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { field } from "../parts/field.ts";
import { form, link, submit } from "../parts/form.ts";
import { paths } from "../paths.ts";

export type ProviderPasswordView = { idpId: string; provider: string; loginName?: string };

/** Asks for name and password of a directory. Sends `idp`, `login_name` and `password` to itself. */
export function providerPasswordPage(
  page: Page,
  { idpId, provider, loginName }: ProviderPasswordView,
): string {
  const { t } = page;
  return layout(
    page,
    { title: t("providerPassword.title", { provider }), scripts: ["login.js"] },
    html`${form(
      page,
      { action: paths.providerPassword },
      html`<input type="hidden" name="idp" value="${idpId}">
${field(page, {
  name: "login_name",
  label: "field.loginName",
  autocomplete: "username",
  value: loginName,
  isFirst: true,
})}
${field(page, {
  name: "password",
  label: "field.password",
  type: "password",
  autocomplete: "current-password",
})}
${submit(t("password.submit"))}`,
    )}
<p class="aside">${link(page, paths.loginName, t("common.otherWay"))}</p>`,
  );
}
