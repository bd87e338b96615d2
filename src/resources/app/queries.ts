import { countIds, type SomeIds } from "../../projection/ids.ts";
import {
  AppFieldNameSchema,
  AppSearchFilterSchema,
} from "#gen/idsvc/resources/app/v3alpha/query_pb.ts";
import { AppService } from "#gen/idsvc/resources/app/v3alpha/app_service_pb.ts";
import { State } from "#gen/idsvc/resources/object/v3alpha/object_pb.ts";
import type { Scope } from "../../authz/context.ts";
import type { Deps } from "../../projection/module.ts";
import { type Found, type Page, search } from "../../projection/search.ts";
import type { Database } from "../../storage/database.ts";
import { and, type Column, eq, not, type SQL } from "../../storage/drizzle.ts";
import type { Row } from "../../storage/table.ts";
import { isInActiveProject } from "../project/index.ts";
import { appNotFound, apps, oidcColumns } from "./application.ts";
import type { OidcConfig } from "./config.ts";
import { type Finder, finder } from "../object/finder.ts";
import { objectQueries } from "../object/queries.ts";
import { appKeys } from "./rows.ts";

export type AppRow = Row<typeof apps>;
export type AppKeyRow = Row<typeof appKeys>;

/** The configuration of an OpenID Connect app, from its row: what the projection wrote are words of the domain. */
export const oidcOf = (row: AppRow): OidcConfig =>
  Object.fromEntries(
    Object.keys(oidcColumns).map((name) => [name, Reflect.get(row, name)]),
  ) as OidcConfig;

const visibleTo = ({ db, tenancy }: Pick<Deps, "db" | "tenancy">) => {
  const { organizationId, projectId } = db.table(apps);
  return (scope: Scope) => tenancy.visible(scope, { organizationId, projectId });
};

/** Finds apps by ID, client ID and name. */
function appFinder(deps: Pick<Deps, "db" | "tenancy">): Finder<AppRow> {
  const { id, clientId, nameFolded } = deps.db.table(apps);
  return finder(deps.db, apps, {
    keys: (text) => [eq(id, text), eq(clientId, text)],
    names: [[nameFolded]],
    visible: visibleTo(deps),
  });
}

/** What finds the apps that their search would show. */
export const appSearch = { method: AppService.method.searchApps, finder: appFinder };

export function appQueries(deps: Deps) {
  const { db, limits, secrets } = deps;
  const t = db.table(apps);
  const keys = db.table(appKeys);

  // An app is active while it and its project are.
  function isInState(state: State): SQL | undefined {
    const isActive = and(eq(t.state, "active"), isInActiveProject(db, t));
    if (isActive === undefined) return undefined;
    return state === State.EFFECTIVE_STATE_ACTIVE ? isActive : not(isActive);
  }

  const queries = objectQueries(
    deps,
    apps,
    {
      filter: AppSearchFilterSchema,
      sort: AppFieldNameSchema,
      filters: { state: ({ state }) => isInState(state) },
      visible: visibleTo(deps),
    },
    appNotFound,
  );
  return {
    ...queries,
    keysOf: (instanceId: string, appId: string, page: Page): Promise<Found<AppKeyRow>> =>
      search(db, appKeys, {
        instanceId,
        filters: [eq(keys.appId, appId)],
        order: keys.creationDate,
        page,
        limits,
        cursors: { secrets, instanceId, list: appId },
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
