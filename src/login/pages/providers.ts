import { html } from "../../html.ts";
import type { OfferedProvider } from "../ports.ts";
import { layout } from "../layout.ts";
import { inFlow, type Page } from "../page.ts";
import { finder } from "../parts/finder.ts";
import { link } from "../parts/form.ts";
import { pager, type Parts } from "../parts/pager.ts";
import { providerForm } from "../parts/provider-button.ts";
import { paths } from "../paths.ts";

export const providersOfPage = 12;

export type ProvidersView = {
  providers: readonly OfferedProvider[];
  /** What their names are to hold. */
  name: string;
  parts: Parts;
};

/** All providers, part by part, and those whose name holds something. */
export function providersPage(page: Page, { providers, name, parts }: ProvidersView): string {
  const { t } = page;
  const to = (from: number) => {
    const query = new URLSearchParams({
      ...(name && { name }),
      ...(from > 0 && { from: `${from}` }),
    });
    return inFlow(page, `${paths.providers}?${query}`);
  };
  return layout(
    page,
    { title: t("loginName.more") },
    html`${finder(page, paths.providers, name)}
${providers.length === 0 ? html`<p class="small">${t("find.none")}</p>` : providerForm(page, providers)}
${pager(parts, to, { before: t("find.previous"), after: t("find.next") })}
<p class="aside">${link(page, paths.loginName, t("common.back"))}</p>`,
  );
}
