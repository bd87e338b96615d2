import { layout } from "../layout.ts";
import type { Page } from "../page.ts";
import { emblem } from "../parts/emblem.ts";

export type DeviceDoneView = { outcome: "allowed" | "denied" };

/** Tells what became of a device. */
export function deviceDonePage(page: Page, { outcome }: DeviceDoneView): string {
  const { t } = page;
  return layout(
    page,
    { title: t(`deviceDone.${outcome}Title`), lead: t(`deviceDone.${outcome}Text`) },
    emblem(outcome === "allowed" ? "check" : "remove"),
  );
}
