import { attributes, html } from "../../html.ts";
import { field } from "../../login/parts/field.ts";
import { form, submit } from "../../login/parts/form.ts";
import { icon } from "../../login/parts/icon.ts";
import { passkeyForm, withoutPasskeys } from "../../login/parts/passkey.ts";
import { accountLayout } from "../layout.ts";
import type { AccountPage } from "../own.ts";
import { list, none, press, section } from "../parts/list.ts";
import { when } from "../parts/when.ts";
import { accountPaths } from "../paths.ts";
import type { KnownPasskeys } from "../../resources/user/index.ts";
import type { Timestamp } from "@bufbuild/protobuf/wkt";

export type PasskeysView = {
  passkeys: readonly {
    id: string;
    name: string;
    /** Who makes it, where that is known. */
    maker: string | undefined;
    since: Timestamp | undefined;
    lastUse: Timestamp | undefined;
  }[];
  /** What the browser is told, so that it offers no passkey that counts no more, and each by the name of now. */
  known: KnownPasskeys;
};

/** Passkeys and security keys. Sends `remove` with the id of one, or `name` to add one. */
export function passkeysPage(page: AccountPage, { passkeys, known }: PasskeysView): string {
  const { t } = page;
  const items = passkeys.map(({ id, name, maker, since, lastUse }) => ({
    icon: "key" as const,
    title: html`<bdi>${name}</bdi>`,
    lines: [
      maker,
      since && html`${t("account.added")} ${when(page, since)}`,
      lastUse === undefined
        ? t("account.never")
        : html`${t("account.lastUsed")} ${when(page, lastUse)}`,
    ],
    action: press(page, {
      action: accountPaths.passkeys,
      name: "remove",
      value: id,
      label: t("account.remove"),
      about: name,
    }),
  }));
  return accountLayout(
    page,
    {
      title: t("account.passkeys"),
      lead: t("account.passkeysText"),
      scripts: ["passkey.js"],
      parent: accountPaths.security,
    },
    html`${items.length === 0 ? none(t("account.none")) : list(items)}
${section(
  t("account.newPasskey"),
  form(
    page,
    { action: accountPaths.passkeys },
    html`${field(page, { name: "name", label: "account.passkeyName", autocomplete: "off", maxLength: 100 })}
${submit(html`${icon("plus")}${t("account.newPasskey")}`)}`,
  ),
)}
<div ${attributes({ hidden: true, "data-passkeys-known": JSON.stringify(known) })}></div>`,
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
<p class="aside"><a class="link" href="${accountPaths.passkeys}">${t("account.backTo")}</a></p>`,
  );
}
