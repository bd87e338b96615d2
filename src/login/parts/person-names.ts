import type { Html } from "../../html.ts";
import type { Page } from "../page.ts";
import { field } from "./field.ts";

/** The fields of a person's names. Where the family name is said first, it is asked first. */
export function personNames(
  page: Page,
  { givenName, familyName }: { givenName?: string; familyName?: string },
): Html[] {
  const isFamilyFirst = ["ja", "zh"].includes(page.language);
  const given = field(page, {
    name: "given_name",
    label: "field.givenName",
    autocomplete: "given-name",
    value: givenName,
    isFirst: !isFamilyFirst,
  });
  const family = field(page, {
    name: "family_name",
    label: "field.familyName",
    autocomplete: "family-name",
    value: familyName,
    isFirst: isFamilyFirst,
  });
  return isFamilyFirst ? [family, given] : [given, family];
}
