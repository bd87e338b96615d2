import { html } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { field } from "../parts/field.ts";
import { form, link, submit } from "../parts/form.ts";
import { paths } from "../paths.ts";
import { personNames } from "../parts/person-names.ts";

export type ProviderRegisterView = {
  provider: string;
  values: { givenName?: string; familyName?: string; email?: string };
};

/** Shows what a provider told of a new user, to be completed. Sends `given_name`, `family_name` and `email`. */
export function providerRegisterPage(
  page: Page,
  { provider, values }: ProviderRegisterView,
): string {
  const { t } = page;
  return layout(
    page,
    { title: t("register.title"), lead: t("providerRegister.text", { provider }) },
    html`${form(
      page,
      { action: paths.providerRegister },
      html`<div class="two">${personNames(page, values)}</div>
${field(page, { name: "email", label: "field.email", type: "email", autocomplete: "email", inputmode: "email", value: values.email })}
${submit(t("register.submit"))}`,
    )}
<p class="aside">${link(page, paths.loginName, t("common.otherWay"))}</p>`,
  );
}
