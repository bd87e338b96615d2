import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { html, type Html } from "../../html.ts";
import type { Page } from "../../login/page.ts";

/** A point in time, in the language of the page. In UTC, and says so, since the server does not learn the time zone of the browser. */
export function when({ language }: Page, at: Timestamp | undefined): Html | undefined {
  if (at === undefined) return undefined;
  const date = timestampDate(at);
  const text = new Intl.DateTimeFormat(language, {
    year: "numeric",
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZone: "UTC",
    timeZoneName: "short",
  }).format(date);
  // The zone stays on the line of the time.
  const shown = text.replace(" UTC", "\u00A0UTC");
  return html`<time datetime="${date.toISOString()}">${shown}</time>`;
}
