import { useBack } from "../forms/again.ts";
import { t } from "../page-data.ts";

/** Shown where the window of a log-in is not closed by itself. */
export function Back() {
  useBack();
  return <p role="status">{t("closeWindow")}</p>;
}
