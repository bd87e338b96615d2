import type { JsonValue } from "@bufbuild/protobuf";
import type { World } from "./world.ts";

const mostTexts = 80;
const longest = 6_000;
const isBearer = /^idsvc_(?:pat|st|at)_|^eyJ[\w-]+\.[\w-]+\.[\w-]+$/;

const isKey = /^-----BEGIN/;

/** What texts of an answer are good for, by what the answer calls them. */
const kindOf: Readonly<Record<string, string>> = {
  user_id: "user",
  organization_id: "organization",
  granted_organization_id: "organization",
  project_id: "project",
  project_grant_id: "project_grant",
  client_id: "client",
  client_secret: "secret",
  verification_code: "code",
  email_code: "code",
  phone_code: "code",
  idp_id: "idp",
  session_id: "session",
  secret: "totp_secret",
  login_names: "login_name",
  address: "mail",
  role_keys: "role_key",
};
/** Of what an id is that stands in an object of its own kind. */
const kindOfOwner: Readonly<Record<string, string>> = { holds: "hold" };
const untold = new Set([
  "given_name",
  "family_name",
  "display_name",
  "description",
  "name",
  "state",
]);

/** Providers are of a type each, and what is done to them by methods of their type. */
const kindsFor = (field: string, value: string): string[] => {
  if (isKey.test(value)) return ["pem"];
  return field.startsWith("idp ") ? ["idp", field] : [kindOf[field] ?? field];
};

const snake = (name: string): string =>
  name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, "_").toLowerCase();

/**
 * Notes all that an answer told, under names that say of which step and where in its answer.
 *
 * @returns the names of bearer tokens that were not known before
 */
export function learn(
  { book }: Pick<World, "book">,
  at: number,
  told: JsonValue,
  resource: string,
): string[] {
  const bearers: string[] = [];
  let texts = 0;
  const take = (value: JsonValue, path: string, field: string): void => {
    if (texts > mostTexts || value === null) return;
    if (Array.isArray(value)) {
      value.slice(0, 5).forEach((each, index) => take(each, `${path}.${index}`, field));
    } else if (typeof value === "object") {
      for (const [name, each] of Object.entries(value)) {
        const own = snake(name);
        if (own === "resource_owner" || own === "owner") continue;
        const inner = own === "id" ? (kindOfOwner[field] ?? resource) : own;
        take(each, `${path}.${own}`, inner);
      }
    } else if (typeof value === "string" && value !== "" && value.length <= longest) {
      if (untold.has(field)) return;
      texts++;
      const isNew = !book.has(value);
      const name = `${at}${path}`;
      if (!isBearer.test(value)) book.add(name, value, ...kindsFor(field, value));
      else {
        const kinds = field === "access_token" ? ["bearer", "access"] : ["bearer"];
        book.add(name, value, ...(field === "id_token" ? ["id_token"] : kinds));
        if (isNew && field !== "id_token") bearers.push(name);
      }
    }
  };
  take(told, "", "");
  return bearers;
}
