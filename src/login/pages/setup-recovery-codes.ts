import { html } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { copyButton } from "../parts/copy.ts";
import { form, link, submit } from "../parts/form.ts";
import { paths } from "../paths.ts";

export type SetupRecoveryCodesView = { codes: readonly string[] };

/** Shows recovery codes, to copy, save as a file or print. Sends nothing but that they are saved. */
export function setupRecoveryCodesPage(page: Page, { codes }: SetupRecoveryCodesView): string {
  const { t } = page;
  return layout(
    page,
    { title: t("recoveryCodes.title"), lead: t("recoveryCodes.text"), scripts: ["login.js"] },
    html`<ol class="recovery" id="codes">${codes.map((code) => html`<li><code>${code}</code></li>`)}</ol>
<div class="tools">${link(page, `${paths.setupRecoveryCodes}?as=file`, t("recoveryCodes.download"), "button plain")}
${copyButton(page, "codes")}
<button type="button" class="button plain" data-prints hidden>${t("recoveryCodes.print")}</button></div>
${form(page, { action: paths.setupRecoveryCodes }, submit(t("recoveryCodes.submit")))}`,
  );
}
