import { html, type Html } from "../../html.ts";
import { icon, type IconName } from "./icon.ts";

/** One large sign, on pages that only tell something. It stands above the title. */
export const emblem = (name: IconName, look: "calm" | "grave" = "calm"): Html =>
  html`<div class="emblem ${look}">${icon(name)}</div>`;
