import { html } from "../../html.ts";
import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { field } from "../parts/field.ts";
import { form, submit } from "../parts/form.ts";
import { paths } from "../paths.ts";

export type DeviceView = {
  /** `user_code` of the link, or what was typed. */
  userCode?: string;
};

/** Asks for the code that a device shows (RFC 8628 section 3.3). Sends `user_code`. */
export function devicePage(page: Page, { userCode }: DeviceView): string {
  const { t } = page;
  return layout(
    page,
    { title: t("device.title"), lead: t("device.text") },
    form(
      page,
      { action: paths.device },
      html`${field(page, { name: "user_code", label: "field.userCode", autocomplete: "off", value: userCode, maxLength: 40, isCode: true, isFirst: true })}
${submit(t("common.continue"))}`,
    ),
  );
}
