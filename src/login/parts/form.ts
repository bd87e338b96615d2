import { attributes, html, type Html, type Value } from "../../html.ts";
import { inFlow, type Page } from "../page.ts";
import { paths } from "../paths.ts";

export type FormShape = {
  /** Path that it is sent to. */
  action: string;
  class?: string;
  /** For a script that makes a passkey of it. */
  data?: Record<`data-${string}`, string | undefined>;
  /** Shown by a script only. */
  needsScript?: boolean;
};

/** A form with what proves that it came from us, and the flow that it belongs to. */
export function form(page: Page, shape: FormShape, content: Value): Html {
  const own = {
    method: "post",
    action: shape.action,
    class: shape.class ?? "form",
    // What is wrong stands beside its field, in the language of the page; a browser would say it in its own bubbles.
    novalidate: true,
    hidden: shape.needsScript,
    ...shape.data,
  };
  return html`<form ${attributes(own)}>
<input type="hidden" name="csrf" value="${page.csrf}">
${hiddenFields(page)}
${content}
</form>`;
}

/** What a form says of where it stands: the flow, and what else is in its address. */
export const hiddenFields = (
  { flow }: Page,
  query: Iterable<readonly [string, string]> = [],
): Html =>
  html`${[...query, ...(flow === undefined ? [] : [["flow", flow] as const])].map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}`;

export type ButtonShape = {
  /** What is sent when this one is pressed. */
  name?: string;
  value?: string;
  look?: "primary" | "plain" | "quiet";
  id?: string;
};

/** A button that sends its form. */
export const button = (label: Value, shape: ButtonShape = {}): Html =>
  html`<button ${attributes({
    type: "submit",
    id: shape.id,
    class: `button ${shape.look ?? "primary"}`,
    name: shape.name,
    value: shape.value,
  })}>${label}</button>`;

/** The button of the page: the one that is found as `#submit`. */
export const submit = (label: Value, shape: ButtonShape = {}): Html =>
  button(label, { id: "submit", ...shape });

/** A link to another page of the same flow. */
export const link = (page: Page, path: string, label: Value, look = "link"): Html =>
  html`<a class="${look}" href="${inFlow(page, path)}">${label}</a>`;

/** A link to elsewhere; only its label where the address is none of the web. */
export function outwardLink(url: string, label: Value, look = "link"): Html {
  return isOfTheWeb(url)
    ? html`<a class="${look}" href="${url}" rel="noreferrer">${label}</a>`
    : html`${label}`;
}

/** The way on from a page that a mail leads to: its link may count no more. */
export const signInLink = (page: Page): Html =>
  html`<p class="aside">${link(page, paths.begin, page.t("register.signIn"))}</p>`;

export const isOfTheWeb = (url: string): boolean =>
  ["https:", "http:"].includes(URL.parse(url)?.protocol ?? "");
