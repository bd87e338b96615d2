import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { attributes, html } from "../../html.ts";
import { button, form } from "../../login/parts/form.ts";
import { short } from "../../login/parts/short.ts";
import { accountLayout } from "../layout.ts";
import type { AccountPage } from "../own.ts";
import { list } from "../parts/list.ts";
import { isPart, type Parts } from "../../login/parts/pager.ts";
import { pager } from "../parts/pager.ts";
import { when } from "../parts/when.ts";
import { accountPaths } from "../paths.ts";

export const sessionsOfPage = 12;

export type SignedIn = {
  id: string;
  isThis: boolean;
  browser: string;
  system: string;
  /** Place, as far as it is known, and address. */
  where: string;
  since: Timestamp | undefined;
  lastSeen: Timestamp | undefined;
};

export type SessionsView = { sessions: readonly SignedIn[]; parts: Parts };

/** Where the person is signed in. Sends `end` with the id of one sign-in, or `others` for all but this one. */
export function sessionsPage(page: AccountPage, { sessions, parts }: SessionsView): string {
  const { t } = page;
  const items = sessions.map((session) => {
    const { id, isThis, browser, system, where, since, lastSeen } = session;
    const name = [browser, system].filter((each) => each !== "").join(" · ");
    const end = attributes({ type: "submit", class: "button plain small", name: "end", value: id });
    const label = name === "" ? t("account.unknownBrowser") : short(name);
    return {
      icon: "device" as const,
      title: label,
      lines: [
        isThis && html`<strong>${t("account.thisOne")}</strong>`,
        html`<bdi>${short(where)}</bdi>`,
        html`${t("account.since")} ${when(page, since)}`,
        html`${t("account.lastSeen")} ${when(page, lastSeen)}`,
      ],
      action:
        !isThis &&
        html`<button ${end}>${t("account.endOne")}<span class="hidden"> ${label}</span></button>`,
    };
  });
  const others = sessions.some(({ isThis }) => !isThis) || isPart(parts);
  return accountLayout(
    page,
    { title: t("account.sessions"), lead: t("account.sessionsText") },
    html`${form(
      page,
      { action: accountPaths.sessions },
      html`${list(items)}
${others && button(t("account.endOthers"), { name: "others", value: "true", look: "plain" })}`,
    )}
${pager(page, accountPaths.sessions, parts)}`,
  );
}
