import type { Database } from "../../storage/database.ts";
import { configOf, idps, toOptions } from "../../resources/idp/index.ts";
import type { Row } from "../../storage/table.ts";
import { pagesOf } from "../../projection/pages.ts";
import type { Part } from "./parts.ts";

/** The identity providers of an organization, of the types that an import takes, without their secrets. */
export async function* idpsOf(
  db: Database,
  instanceId: string,
  organizationId: string,
): AsyncGenerator<Part> {
  for await (const page of pagesOf(db, idps, ["id"], instanceId, { organizationId })) {
    yield { oidcIdps: page.filter(({ type }) => type === "oidc").map(toOidcIdp) };
    yield { jwtIdps: page.filter(({ type }) => type === "jwt").map(toJwtIdp) };
  }
}

function toOidcIdp(row: Row<typeof idps>) {
  const { issuer, clientId, scopes, usePkce, isIdTokenMapping } = configOf("oidc", row.config);
  const config = { issuer, clientId, scopes, usePkce, isIdTokenMapping };
  return { ...common(row), idp: { name: row.name, ...config, options: toOptions(row.options) } };
}

function toJwtIdp(row: Row<typeof idps>) {
  const { issuer, jwtEndpoint, keysEndpoint, headerName } = configOf("jwt", row.config);
  const config = { issuer, jwtEndpoint, keysEndpoint, headerName };
  return { ...common(row), idp: { name: row.name, ...config, options: toOptions(row.options) } };
}

const common = ({ id, statePolicy }: Row<typeof idps>) => ({
  idpId: id,
  inactive: statePolicy === "deactivate",
});
