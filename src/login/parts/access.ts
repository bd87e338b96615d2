import { attributes, html, type Html } from "../../html.ts";
import type { Page } from "../page.ts";
import { short } from "./short.ts";

const mostOfNames = 600;

export type AccessChoice = "own" | "organization" | "given" | "everything" | "legacy";

/** How much of their power a person can give an app, the least first. */
export type AccessView = {
  choices: readonly AccessChoice[];
  /** The organization that the app belongs to. */
  organization: string;
  /** The organizations in which counts what the app was given; none stands for the whole instance. */
  within: readonly string[];
};

/** Asks how far an app may act for the person in the administration. Sends `access`. */
export function accessChoice(page: Page, app: string, view: AccessView): Html | undefined {
  if (view.choices.length === 0) return undefined;
  const rows = view.choices.map((choice, at) => {
    const shape = { type: "radio", name: "access", value: choice, checked: at === 0 };
    return html`<label class="option"><input ${attributes(shape)}><span>${textOf(page, app, choice, view)}</span></label>`;
  });
  return html`<fieldset class="access"><legend>${page.t("access.title", { app })}</legend>
${rows}</fieldset>`;
}

function textOf(
  { t }: Page,
  app: string,
  choice: AccessChoice,
  { organization, within }: AccessView,
): string {
  switch (choice) {
    case "own":
      return t("access.own");
    case "organization":
      return t("access.organization", { organization });
    case "given":
      return within.length === 0
        ? t("access.instance", { app })
        : t("access.organization", { organization: short(within.join(", "), mostOfNames) });
    case "everything":
    case "legacy":
      return t("access.everything");
    default:
      return choice satisfies never;
  }
}
