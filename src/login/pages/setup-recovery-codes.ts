import { html } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { form, submit } from "../parts/form.ts";
import { paths } from "../paths.ts";

export type SetupRecoveryCodesView = { codes: readonly string[] };

/** Shows recovery codes, this once. Sends nothing but that it was read. */
export function setupRecoveryCodesPage(page: Page, { codes }: SetupRecoveryCodesView): string {
  const { t } = page;
  return layout(
    page,
    { title: t("recoveryCodes.title"), lead: t("recoveryCodes.text") },
    html`<ol class="recovery">${codes.map((code) => html`<li><code>${code}</code></li>`)}</ol>
${form(page, { action: paths.setupRecoveryCodes }, submit(t("recoveryCodes.submit")))}`,
  );
}
