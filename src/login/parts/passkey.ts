import { html, type Html, type Value } from "../../html.ts";
import type { Page } from "../page.ts";
import { button, form } from "./form.ts";
import { icon } from "./icon.ts";

export type PasskeyShape = {
  action: string;
  /** Options of WebAuthn in their JSON form: of a request for `get`, of a creation for `create`. */
  options: object;
  kind: "get" | "create";
  label: Value;
  look?: "primary" | "plain";
  id?: string;
  /** Offers passkeys in the list that the browser shows at a field with `webauthn`. */
  isConditional?: boolean;
  fields?: Value;
};

/**
 * A form that is sent with a `credential` (JSON of WebAuthn) once the browser has one. It is seen only where a script
 * runs and the browser knows passkeys.
 */
export function passkeyForm(page: Page, shape: PasskeyShape): Html {
  const data = {
    "data-passkey": shape.kind,
    "data-options": JSON.stringify(shape.options),
    "data-conditional": shape.isConditional ? "true" : undefined,
    "data-failed": page.t("passkey.failed"),
  };
  const look = shape.look ?? "primary";
  const own = shape.id === undefined ? { look } : { look, id: shape.id };
  return form(
    page,
    { action: shape.action, class: "form passkey", data, needsScript: true },
    html`<input type="hidden" name="credential" value="">
${shape.fields}
${button(html`${icon("key")}${shape.label}`, own)}
<p class="wrong" data-passkey-problem role="alert"></p>`,
  );
}

/** What those read for whom the form above stays hidden. */
export const withoutPasskeys = ({
  t,
}: Page): Html => html`<noscript><p class="problem">${icon("alert")}<span>${t("passkey.noScript")}</span></p></noscript>
<p class="problem" data-passkey-unsupported hidden>${icon("alert")}<span>${t("passkey.unsupported")}</span></p>`;
