import { html, type Html } from "../../html.ts";
import type { Page, Problem } from "../page.ts";
import { icon } from "./icon.ts";

/** The id of a field: `login_name` is found as `#login-name`. */
export const idOf = (field: string): string => field.replaceAll("_", "-");

export const problemsOf = (page: Page, field: string): readonly Problem[] =>
  page.problems?.filter((problem) => problem.field === field) ?? [];

export const problemText = ({ t }: Page, { code, count = 0 }: Problem): string =>
  t(`problem.${code}`, { count });

/** All that is wrong, said at once to those who do not see where; seen is what belongs to no field. */
export function problemSummary(page: Page): Html | undefined {
  const problems = page.problems ?? [];
  if (problems.length === 0) return undefined;
  const general = problems.filter(({ field }) => field === undefined);
  const others = problems.filter(({ field }) => field !== undefined);
  return html`<div class="${general.length > 0 ? "problems" : "problems hidden"}" role="alert">
${general.map((problem) => html`<p class="problem">${icon("alert")}<span>${problemText(page, problem)}</span></p>`)}
${others.length > 0 && html`<div class="hidden"><p>${page.t("common.problems", { count: others.length })}</p><ul>${others.map((problem) => html`<li>${problemText(page, problem)}</li>`)}</ul></div>`}
</div>`;
}
