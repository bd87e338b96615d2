import { html } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { form, submit } from "../parts/form.ts";
import { paths } from "../paths.ts";

/**
 * Has the browser make a passkey by itself, and goes on whatever comes of it. A script sends it; where none runs, a person. Sends
 * `credential`, empty where there is none.
 */
export function preparePasskeyPage(page: Page, { options }: { options: object }): string {
  const { t } = page;
  const data = { "data-prepare": JSON.stringify(options) } as const;
  return layout(
    page,
    { title: t("formPost.title"), scripts: ["passkey.js"] },
    form(
      page,
      { action: paths.preparePasskey, data },
      html`<input type="hidden" name="credential" value="">
${submit(t("common.continue"))}`,
    ),
  );
}
