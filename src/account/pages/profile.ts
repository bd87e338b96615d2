import { html } from "../../html.ts";
import { field } from "../../login/parts/field.ts";
import { form, submit } from "../../login/parts/form.ts";
import type { TextKey } from "../../texts/texts.ts";
import { accountLayout } from "../layout.ts";
import type { AccountPage } from "../own.ts";
import { select } from "../parts/select.ts";
import { accountPaths } from "../paths.ts";

/** What people say of themselves, by its name in the data of a user. */
export const profileFields = [
  { name: "given_name", label: "field.givenName", autocomplete: "given-name" },
  { name: "family_name", label: "field.familyName", autocomplete: "family-name" },
  { name: "nickname", label: "field.nickname", autocomplete: "nickname" },
  { name: "display_name", label: "field.displayName", autocomplete: "off" },
  { name: "gender", label: "field.gender", autocomplete: "sex" },
] as const satisfies readonly { name: string; label: TextKey; autocomplete: string }[];

export const languageField = "preferred_language";

export type ProfileView = {
  /** The fields that the schema of the user has. */
  fields: readonly string[];
  values: Readonly<Record<string, string>>;
  languages: readonly { value: string; label: string; lang: string }[];
};

/** Names and language. Sends the fields of the user's data by their names. */
export function profilePage(page: AccountPage, { fields, values, languages }: ProfileView): string {
  const { t } = page;
  // Where the family name is said first, it is asked first.
  const isFamilyFirst = ["ja", "zh"].includes(page.language);
  const ordered = isFamilyFirst
    ? [profileFields[1], profileFields[0], ...profileFields.slice(2)]
    : profileFields;
  const shown = ordered
    .filter(({ name }) => fields.includes(name))
    .map((each) => field(page, { ...each, value: values[each.name], isOptional: true }));
  return accountLayout(
    page,
    { title: t("account.profile"), lead: t("account.profileText") },
    form(
      page,
      { action: accountPaths.profile },
      html`${shown}${fields.includes(languageField) && select(page, { name: languageField, label: "common.language", value: values[languageField] ?? "", options: languages })}
${submit(t("account.save"))}`,
    ),
  );
}
