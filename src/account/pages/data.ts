import { html } from "../../html.ts";
import { form } from "../../login/parts/form.ts";
import { icon } from "../../login/parts/icon.ts";
import { idOf, problemsOf, problemText } from "../../login/parts/problem.ts";
import { accountLayout } from "../layout.ts";
import type { AccountPage } from "../own.ts";
import { section } from "../parts/list.ts";
import { accountPaths } from "../paths.ts";

/** The data of the person as a file, and the end of the account. */
export function dataPage(page: AccountPage): string {
  const { t } = page;
  return accountLayout(
    page,
    { title: t("account.data"), lead: t("account.dataText") },
    html`<a class="button primary" id="submit" href="${accountPaths.data}?as=file">${icon("file")}${t("account.download")}</a>
${section(t("account.deleteTitle"), html`<p class="small">${t("account.deleteText")}</p><a class="button grave" href="${accountPaths.remove}">${t("account.deleteTitle")}</a>`)}`,
  );
}

/** Asks before the account is deleted. Sends `sure`. */
export function deletePage(page: AccountPage): string {
  const { t } = page;
  const field = "sure";
  const id = idOf(field);
  const wrong = problemsOf(page, field);
  return accountLayout(
    page,
    { title: t("account.deleteTitle"), lead: t("account.deleteText"), parent: accountPaths.data },
    html`${form(
      page,
      { action: accountPaths.remove },
      html`<div class="field"><label class="check"><input type="checkbox" id="${id}" name="${field}" value="yes"><span>${t("account.deleteSure")}</span></label>
${wrong.length > 0 && html`<p class="wrong" id="${id}-problem">${wrong.map((problem) => html`<span>${icon("alert")}${problemText(page, problem)}</span>`)}</p>`}</div>
<button type="submit" class="button grave" id="submit">${t("account.deleteSubmit")}</button>`,
    )}
<p class="aside"><a class="link" href="${accountPaths.data}">${t("common.back")}</a></p>`,
  );
}
