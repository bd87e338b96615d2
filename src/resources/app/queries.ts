import { countIds, rowById, type SomeIds } from "../../projection/ids.ts";
import { AppFieldName, type AppSearchFilter } from "#gen/idsvc/resources/app/v3alpha/query_pb.ts";
import { State } from "#gen/idsvc/resources/object/v3alpha/object_pb.ts";
import type { Scope } from "../../authz/context.ts";
import type { Deps } from "../../projection/module.ts";
import { type Found, type Page, search } from "../../projection/search.ts";
import type { Database } from "../../storage/database.ts";
import { and, type Column, eq, not, type SQL } from "../../storage/drizzle.ts";
import type { Row } from "../../storage/table.ts";
import { hasId, hasName, isOfOrganization } from "../object/filters.ts";
import type { Tenancy } from "../../authz/tenancy.ts";
import { isInActiveProject } from "../project/index.ts";
import { appNotFound } from "./app.ts";
import type { AppType, AuthMethod, OidcConfig } from "./events.ts";
import { appKeys, apps } from "./projection.ts";

export type AppRow = Row<typeof apps>;
export type AppKeyRow = Row<typeof appKeys>;

/** The configuration of an OpenID Connect app, from its row: what the projection wrote are words of the domain. */
export const oidcOf = (row: AppRow): OidcConfig => ({
  appType: row.appType as AppType,
  redirectUris: row.redirectUris,
  postLogoutRedirectUris: row.postLogoutRedirectUris,
  responseTypes: row.responseTypes,
  grantTypes: row.grantTypes,
  authMethodType: row.authMethodType as AuthMethod,
  accessTokenType: row.accessTokenType === "jwt" ? "jwt" : "bearer",
  accessTokenRoleAssertion: row.accessTokenRoleAssertion,
  idTokenRoleAssertion: row.idTokenRoleAssertion,
  idTokenUserinfoAssertion: row.idTokenUserinfoAssertion,
  clockSkewMs: row.clockSkewMs,
  additionalOrigins: row.additionalOrigins,
  devMode: row.devMode,
  backChannelLogoutUri: row.backChannelLogoutUri,
  idTokenSignedResponseAlg: row.idTokenSignedResponseAlg,
  strictAssertionAudience: row.strictAssertionAudience,
});

export function appQueries(
  { db, limits, organizations }: Pick<Deps, "db" | "limits" | "organizations">,
  tenancy: Tenancy,
) {
  const t = db.table(apps);
  const keys = db.table(appKeys);
  const columns: Record<number, Column> = {
    [AppFieldName.ID]: t.id,
    [AppFieldName.CREATION_DATE]: t.creationDate,
    [AppFieldName.CHANGE_DATE]: t.changeDate,
    [AppFieldName.NAME]: t.name,
  };

  // An app is active while it and its project are.
  function isInState(state: State): SQL | undefined {
    const isActive = and(eq(t.state, "active"), isInActiveProject(db, t));
    if (isActive === undefined) return undefined;
    return state === State.EFFECTIVE_STATE_ACTIVE ? isActive : not(isActive);
  }

  async function condition(
    { instanceId }: Scope,
    { filter }: AppSearchFilter,
  ): Promise<SQL | undefined> {
    switch (filter.case) {
      case "inIds":
        return hasId(t.id, filter.value);
      case "name":
        return hasName(db, { exact: t.name, folded: t.nameFolded }, filter.value);
      case "state":
        return isInState(filter.value.state);
      case "projectId":
        return eq(t.projectId, filter.value);
      case "clientId":
        return eq(t.clientId, filter.value);
      case "organization":
        return isOfOrganization(t.organizationId, organizations, instanceId, filter.value);
      default:
        return undefined;
    }
  }

  return {
    find: rowById(db, apps),

    async get(instanceId: string, id: string): Promise<AppRow> {
      const row = await this.find(instanceId, id);
      if (row === undefined) throw appNotFound();
      return row;
    },

    async search(
      scope: Scope,
      asked: { filters: AppSearchFilter[]; sortingColumn: AppFieldName; page: Page },
    ): Promise<Found<AppRow>> {
      const { organizationId, projectId } = t;
      const visible = await tenancy.visible(scope, { organizationId, projectId });
      const filters = await Promise.all(asked.filters.map((one) => condition(scope, one)));
      return search(db, apps, {
        instanceId: scope.instanceId,
        filters: [...visible, ...filters],
        order: columns[asked.sortingColumn] ?? t.creationDate,
        page: asked.page,
        limits,
      });
    },

    keysOf: (instanceId: string, appId: string, page: Page): Promise<Found<AppKeyRow>> =>
      search(db, appKeys, {
        instanceId,
        filters: [eq(keys.appId, appId)],
        order: keys.creationDate,
        page,
        limits,
      }),
  };
}

/** How many apps of some organizations there are, and the ids of some. */
export function appsWhere(
  db: Database,
  instanceId: string,
  within: (organizationId: Column) => SQL | undefined,
  limit: number,
): Promise<SomeIds> {
  const t = db.table(apps);
  return countIds(db, apps, and(eq(t.instanceId, instanceId), within(t.organizationId)), limit);
}
