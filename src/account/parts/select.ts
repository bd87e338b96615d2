import { attributes, html, type Html } from "../../html.ts";
import { icon } from "../../login/parts/icon.ts";
import type { Page } from "../../login/page.ts";
import type { TextKey } from "../../texts/texts.ts";

/** A choice of one of several values, with its label. */
export function select(
  { t }: Page,
  shape: {
    name: string;
    label: TextKey;
    value: string;
    options: readonly { value: string; label: string; lang?: string }[];
  },
): Html {
  const id = shape.name.replaceAll("_", "-");
  const options = shape.options.map(({ value, label, lang }) => {
    const is = attributes({ value, lang, selected: value === shape.value });
    return html`<option ${is}>${label}</option>`;
  });
  return html`<div class="field"><label for="${id}">${t(shape.label)}</label>
<div class="control"><select class="input" id="${id}" name="${shape.name}">${options}</select>${icon("next")}</div></div>`;
}
