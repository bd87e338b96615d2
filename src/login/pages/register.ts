import { html } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { field } from "../parts/field.ts";
import { form, link, submit } from "../parts/form.ts";
import { personNames } from "../parts/person-names.ts";
import { paths } from "../paths.ts";

export type RegisterView = {
  app?: string;
  organization?: string;
  /** What was typed before. */
  values: { givenName?: string; familyName?: string; email?: string };
};

/** Asks who wants an account: the address is proven next. Sends `given_name`, `family_name` and `email`. */
export function registerPage(page: Page, { app, organization, values }: RegisterView): string {
  const { t } = page;
  const lead =
    app === undefined
      ? organization && t("loginName.organization", { organization })
      : t("common.to", { app });
  return layout(
    page,
    { title: t("register.title"), ...(lead ? { lead } : {}) },
    html`${form(
      page,
      { action: paths.register },
      html`<div class="two">${personNames(page, values)}</div>
${field(page, { name: "email", label: "field.email", type: "email", autocomplete: "email", inputmode: "email", value: values.email })}
${submit(t("common.continue"))}`,
    )}
<p class="aside"><span>${t("register.haveAccount")}</span> ${link(page, paths.loginName, t("register.signIn"))}</p>`,
  );
}
