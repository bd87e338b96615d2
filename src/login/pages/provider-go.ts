import { html } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { button, isOfTheWeb, outwardLink } from "../parts/form.ts";

export type ProviderGoView = {
  provider: string;
  url: string;
  /** Fields of the form to send there; without them the address is opened, which the answer's header does by itself. */
  fields?: Readonly<Record<string, string>>;
};

/**
 * On the way to a provider. A page between, since a form of ours that is answered with a redirect may lead to no other
 * place than those that its own page names, and nobody knows where a provider leads.
 *
 * @throws TypeError for an address that is none of the web
 */
export function providerGoPage(page: Page, { provider, url, fields }: ProviderGoView): string {
  const { t } = page;
  if (!isOfTheWeb(url)) throw new TypeError("a provider is at an address of http or https");
  const title = t("providerGo.title");
  const lead = t("providerGo.text", { provider });
  if (fields === undefined) {
    const link = outwardLink(url, t("common.continue"), "button primary");
    return layout(page, { title, lead }, html`<div id="submit">${link}</div>`);
  }
  return layout(page, { title, lead }, sentForm(page, url, Object.entries(fields)));
}

/** Takes up what a provider had the browser post, on a page of ours: only from there our cookies come with it. */
export function providerBackPage(
  page: Page,
  { action, parameters }: { action: string; parameters: readonly (readonly [string, string])[] },
): string {
  const { t } = page;
  const view = { title: t("providerGo.title"), lead: t("providerBack.text") };
  return layout(page, view, sentForm(page, action, [...parameters, ["again", "true"]]));
}

const sentForm = (
  { t, nonce }: Page,
  action: string,
  fields: readonly (readonly [name: string, value: string])[],
) => html`<form method="post" action="${action}" class="form">
${fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${button(t("common.continue"), { id: "submit" })}
</form>
<script nonce="${nonce}">HTMLFormElement.prototype.submit.call(document.forms[0])</script>`;
