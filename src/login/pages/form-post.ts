import { html } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { button, isOfTheWeb } from "../parts/form.ts";

export type FormPostView = {
  app: string;
  /** The proven redirect URI. */
  action: string;
  /** Parameters of the answer. */
  parameters: readonly (readonly [name: string, value: string])[];
};

/**
 * Hands an answer to an application (OAuth 2.0 Form Post Response Mode). A script sends it; where none runs, a person.
 *
 * @throws TypeError for a redirect URI that is none of the web: a browser would not post there, or would run it
 */
export function formPostPage(page: Page, { app, action, parameters }: FormPostView): string {
  const { t } = page;
  if (!isOfTheWeb(action)) throw new TypeError("form_post wants a redirect URI of http or https");
  return layout(
    page,
    { title: t("formPost.title"), lead: t("formPost.text", { app }) },
    html`<form method="post" action="${action}" class="form">
${parameters.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${button(t("common.continue"), { id: "submit" })}
</form>
<script nonce="${page.nonce}">HTMLFormElement.prototype.submit.call(document.forms[0])</script>`,
  );
}
