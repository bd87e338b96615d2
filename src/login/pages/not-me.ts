import { html } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { form, link, submit } from "../parts/form.ts";
import { paths } from "../paths.ts";

export type NotMeView = { userId: string; noticeId: string; code: string };

/**
 * What the link of a notice opens: whoever did not do what it tells ends all sessions. For whom it is, it does not tell. Nothing is
 * spent before the form is sent. Sends `user_id`, `notice_id` and `code`.
 */
export function notMePage(page: Page, { userId, noticeId, code }: NotMeView): string {
  const { t } = page;
  return layout(
    page,
    { title: t("notMe.title"), lead: t("notMe.text") },
    html`${form(
      page,
      { action: paths.notMe },
      html`<input type="hidden" name="user_id" value="${userId}">
<input type="hidden" name="notice_id" value="${noticeId}">
<input type="hidden" name="code" value="${code}">
${submit(t("notMe.submit"))}`,
    )}
<p class="aside">${link(page, paths.account, t("notMe.wasMe"))}</p>`,
  );
}
