import { attributes, html, type Html } from "../../html.ts";
import { field } from "../../login/parts/field.ts";
import { form, submit } from "../../login/parts/form.ts";
import { icon } from "../../login/parts/icon.ts";
import { short, writtenBytes } from "../../login/parts/short.ts";
import { passkeyForm, withoutPasskeys } from "../../login/parts/passkey.ts";
import { accountLayout } from "../layout.ts";
import type { AccountPage } from "../own.ts";
import { list, none, pressButton, section } from "../parts/list.ts";
import type { Parts } from "../../login/parts/pager.ts";
import { pager } from "../parts/pager.ts";
import { when } from "../parts/when.ts";
import { accountPaths } from "../paths.ts";
import type { KnownPasskeys } from "../../resources/user/index.ts";
import type { Timestamp } from "@bufbuild/protobuf/wkt";

export const passkeysOfPage = 10;

export type PasskeysView = {
  passkeys: readonly {
    id: string;
    name: string;
    /** Who makes it, where that is known. */
    maker: string | undefined;
    since: Timestamp | undefined;
    lastUse: Timestamp | undefined;
    /** A browser made it by itself, and it was not used yet. */
    isPrepared: boolean;
  }[];
  /** What the browser is told, so that it offers no passkey that counts no more, and each by the name of now. */
  known: KnownPasskeys;
  parts: Parts;
};

const mostOfKnown = 6_000;

/** Passkeys and security keys. Sends `remove` with the id of one, or `name` to add one. */
export function passkeysPage(page: AccountPage, view: PasskeysView): string {
  const { passkeys, known, parts } = view;
  const { t } = page;
  const items = passkeys.map(({ id, name: whole, maker, since, lastUse, isPrepared }) => {
    const name = short(whole);
    return {
      icon: "key" as const,
      title: html`<bdi>${name}</bdi>`,
      lines: [
        maker,
        since && html`${t("account.added")} ${when(page, since)}`,
        isPrepared
          ? t("account.preparedPasskey")
          : lastUse === undefined
            ? t("account.never")
            : html`${t("account.lastUsed")} ${when(page, lastUse)}`,
      ],
      action: html`<span class="actions"><a class="button plain small" href="${accountPaths.passkeyName}?passkey=${encodeURIComponent(id)}">${t("account.rename")}<span class="hidden"> ${name}</span></a>
${pressButton({ name: "remove", value: id, label: t("account.remove"), about: name })}</span>`,
    };
  });
  return accountLayout(
    page,
    {
      title: t("account.passkeys"),
      lead: t("account.passkeysText"),
      scripts: ["passkey.js"],
      parent: accountPaths.security,
    },
    html`${items.length === 0 ? none(t("account.none")) : form(page, { action: accountPaths.passkeys, class: "items-form" }, list(items))}
${pager(page, accountPaths.passkeys, parts)}
${section(
  t("account.newPasskey"),
  form(
    page,
    { action: accountPaths.passkeys },
    html`${field(page, { name: "name", label: "account.passkeyName", autocomplete: "off", maxLength: 100 })}
${submit(html`${icon("plus")}${t("account.newPasskey")}`)}`,
  ),
)}
${dataOf(known)}`,
  );
}

/** Who has so many long ones that they would not fit keeps what their browser offers: it is told of all or of none. */
function dataOf(known: KnownPasskeys): Html | undefined {
  const json = JSON.stringify(known);
  return writtenBytes(json) <= mostOfKnown
    ? html`<div ${attributes({ hidden: true, "data-passkeys-known": json })}></div>`
    : undefined;
}

/** Gives a passkey another name. Sends `passkey`, its id, and `name`. */
export function passkeyNamePage(page: AccountPage, { id, name }: { id: string; name: string }) {
  const { t } = page;
  return accountLayout(
    page,
    { title: t("account.renamePasskey"), parent: accountPaths.passkeys },
    html`${form(
      page,
      { action: accountPaths.passkeyName },
      html`<input type="hidden" name="passkey" value="${id}">
${field(page, { name: "name", label: "account.passkeyName", autocomplete: "off", maxLength: 100, value: name, isFirst: true })}
${submit(t("account.save"))}`,
    )}
<p class="aside"><a class="link" href="${accountPaths.passkeys}">${t("common.back")}</a></p>`,
  );
}

/** Has the browser make a passkey. Sends `credential`. */
export function newPasskeyPage(page: AccountPage, { options }: { options: object }): string {
  const { t } = page;
  return accountLayout(
    page,
    {
      title: t("setupPasskey.title"),
      lead: t("setupPasskey.text"),
      scripts: ["passkey.js"],
      parent: accountPaths.passkeys,
    },
    html`${withoutPasskeys(page)}
${passkeyForm(page, { action: accountPaths.newPasskey, options, kind: "create", label: t("setupPasskey.submit"), id: "submit" })}
<p class="aside"><a class="link" href="${accountPaths.passkeys}">${t("common.back")}</a></p>`,
  );
}
