import { attributes, html, type Html } from "../../html.ts";
import type { Page } from "../page.ts";
import type { TextKey } from "../../texts/texts.ts";
import { icon } from "./icon.ts";
import { idOf, problemsOf, problemText } from "./problem.ts";

/** Of a username of 200 characters, which a browser may count as two each, and a domain. */
export const longestLoginName = 700;

export type Field = {
  /** Its name in the form; its id is the same with hyphens. */
  name: string;
  label: TextKey;
  type?: "text" | "email" | "password";
  autocomplete: string;
  value?: string | undefined;
  inputmode?: "numeric" | "email" | "text";
  /** Takes the focus when the page opens and no other field is wrong. */
  isFirst?: boolean;
  isOptional?: boolean;
  /** Characters at most. */
  maxLength?: number;
  /** A code: wide letters, no corrections. */
  isCode?: boolean;
  /** Id of what explains it. */
  describedBy?: string;
};

/** A field with its label and what is wrong with it. A password is never written into a page. */
export function field(page: Page, shape: Field): Html {
  const { t } = page;
  const id = idOf(shape.name);
  const problems = problemsOf(page, shape.name);
  const firstWrong = page.problems?.find((problem) => problem.field !== undefined)?.field;
  const isWrong = problems.length > 0;
  const described = [isWrong && `${id}-problem`, shape.describedBy].filter((part) => part);
  const isPassword = shape.type === "password";
  const input = attributes({
    id,
    name: shape.name,
    type: shape.type ?? "text",
    class: shape.isCode ? "input code" : "input",
    value: isPassword ? undefined : shape.value,
    autocomplete: shape.autocomplete,
    inputmode: shape.inputmode,
    required: !shape.isOptional,
    maxlength: shape.maxLength ?? 200,
    autofocus: firstWrong === undefined ? shape.isFirst : firstWrong === shape.name,
    autocapitalize: shape.isCode || isPassword ? "off" : undefined,
    spellcheck: "false",
    "aria-invalid": isWrong ? "true" : undefined,
    "aria-describedby": described.length > 0 ? described.join(" ") : undefined,
  });
  return html`<div class="field">
<label for="${id}">${t(shape.label)}${shape.isOptional && html` <span class="optional">(${t("common.optional")})</span>`}</label>
<div class="control"><input ${input}>${isPassword && showPassword(page, id)}</div>
${isWrong && html`<p class="wrong" id="${id}-problem">${problems.map((problem) => html`<span>${icon("alert")}${problemText(page, problem)}</span>`)}</p>`}
</div>`;
}

const showPassword = ({ t }: Page, id: string): Html =>
  html`<button type="button" class="show" data-shows="${id}" aria-pressed="false" aria-controls="${id}" aria-label="${t("common.showPassword")}" hidden>${icon("eye")}</button>`;
