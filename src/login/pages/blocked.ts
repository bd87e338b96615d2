import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { emblem } from "../parts/emblem.ts";

/** The only page of an instance that is blocked. */
export const blockedPage = (page: Page): string =>
  layout(
    page,
    {
      title: page.t("blocked.title"),
      lead: page.t("blocked.text"),
      error: "INSTANCE_BLOCKED",
    },
    emblem("alert", "grave"),
  );
