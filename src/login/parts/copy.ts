import { html, type Html } from "../../html.ts";
import type { Page } from "../page.ts";

/** Copies the text of an element, line by line where it is a list; seen only where a script runs that may do so. */
export const copyButton = ({ t }: Page, of: string): Html =>
  html`<button type="button" class="button plain" data-copies="${of}" data-done="${t("common.copied")}" hidden>${t("common.copy")}</button>`;
