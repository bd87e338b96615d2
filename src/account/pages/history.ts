import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { html } from "../../html.ts";
import { accountLayout } from "../layout.ts";
import type { AccountPage } from "../own.ts";
import { list, none } from "../parts/list.ts";
import { when } from "../parts/when.ts";
import { accountPaths } from "../paths.ts";

export type Happened = {
  text: string;
  at: Timestamp | undefined;
  /** Browser, system and address, as far as the person may see them. */
  where: string;
  isByOther: boolean;
};

export type HistoryView = {
  events: readonly Happened[];
  /** Where the page before and the one after begin; undefined where there is none. */
  newer: number | undefined;
  older: number | undefined;
};

/** What happened to the account, page by page. */
export function historyPage(page: AccountPage, { events, newer, older }: HistoryView): string {
  const { t } = page;
  const items = events.map(({ text, at, where, isByOther }) => ({
    icon: "clock" as const,
    title: text,
    lines: [when(page, at), html`<bdi>${where}</bdi>`, isByOther && t("account.bySomebodyElse")],
  }));
  const to = (from: number, label: string) =>
    html`<a class="button plain" href="${from === 0 ? accountPaths.history : `${accountPaths.history}?from=${from}`}">${label}</a>`;
  return accountLayout(
    page,
    { title: t("account.history"), lead: t("account.historyText") },
    html`${items.length === 0 ? none(t("account.none")) : list(items)}
<div class="two">${newer !== undefined && to(newer, t("account.newer"))}${older !== undefined && to(older, t("account.older"))}</div>`,
  );
}
