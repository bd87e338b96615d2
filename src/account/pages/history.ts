import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { html } from "../../html.ts";
import { short } from "../../login/parts/short.ts";
import { accountLayout } from "../layout.ts";
import type { AccountPage } from "../own.ts";
import { list, none } from "../parts/list.ts";
import type { Parts } from "../../login/parts/pager.ts";
import { pager } from "../parts/pager.ts";
import { when } from "../parts/when.ts";
import { accountPaths } from "../paths.ts";

export const eventsOfPage = 15;

export type Happened = {
  text: string;
  at: Timestamp | undefined;
  /** Browser, system, place and address, as far as the person may see them. */
  where: string;
  isByOther: boolean;
};

export type HistoryView = { events: readonly Happened[]; parts: Parts };

const mostOfText = 400;

/** What happened to the account, page by page. */
export function historyPage(page: AccountPage, { events, parts }: HistoryView): string {
  const { t } = page;
  const items = events.map(({ text, at, where, isByOther }) => ({
    icon: "clock" as const,
    title: short(text, mostOfText),
    lines: [
      when(page, at),
      html`<bdi>${short(where)}</bdi>`,
      isByOther && t("account.bySomebodyElse"),
    ],
  }));
  return accountLayout(
    page,
    { title: t("account.history"), lead: t("account.historyText") },
    html`${items.length === 0 ? none(t("account.none")) : list(items)}
${pager(page, accountPaths.history, parts)}`,
  );
}
