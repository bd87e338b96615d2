import { attributes, html, type Html } from "../../html.ts";
import type { Page } from "../page.ts";

/** What a person may say of their browser: for how long it spares them this step. */
export type TrustView = { lifetimeMs: number; isChecked: boolean };

const hourMs = 3_600_000;
const dayHours = 24;

/** Lets trust the browser. Sends `trust`. */
export function trustChoice({ t }: Page, { lifetimeMs, isChecked }: TrustView): Html {
  const hours = Math.max(Math.round(lifetimeMs / hourMs), 1);
  const label =
    hours < 2 * dayHours
      ? t("trust.hours", { count: hours })
      : t("trust.days", { count: Math.floor(hours / dayHours) });
  const shape = { type: "checkbox", name: "trust", value: "true", checked: isChecked };
  return html`<label class="option"><input ${attributes(shape)}><span>${label}<span class="hint">${t("trust.hint")}</span></span></label>`;
}
