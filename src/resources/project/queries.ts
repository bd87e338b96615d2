import {
  ProjectFieldNameSchema,
  ProjectSearchFilterSchema,
} from "#gen/idsvc/resources/project/v3alpha/query_pb.ts";
import type { Scope } from "../../authz/context.ts";
import type { Deps } from "../../projection/module.ts";
import type { Database } from "../../storage/database.ts";
import { rowByKey } from "../../projection/ids.ts";
import { hasRow } from "../../projection/rows.ts";
import { type Column, eq, type SQL } from "../../storage/drizzle.ts";
import { cachedRead } from "../../storage/read-cache.ts";
import type { Row } from "../../storage/table.ts";
import { type Owned } from "../../authz/tenancy.ts";
import { isInActiveOrganization } from "../org/index.ts";
import { projects } from "./project.ts";
import { type Finder, finder } from "../object/finder.ts";
import { objectQueries } from "../object/queries.ts";

export type ProjectRow = Row<typeof projects.table>;

/** What other slices ask of projects: never older than the last write that changed any (B7). */
export const projectReader = (db: Database) => ({
  byId: cachedRead(db, [projects.table], rowByKey(db, projects.table)),
});

/** Where a project lives, and whom it is granted to: decides who may do what in it. */
export function projectOwnership({ db, projectGrants }: Pick<Deps, "db" | "projectGrants">) {
  const { byId } = projectReader(db);
  return async (instanceId: string, id: string): Promise<Owned | undefined> => {
    const found = await byId(instanceId, id);
    if (found === undefined) return undefined;
    const { organizationId } = found;
    return { organizationId, projectId: id, grants: await projectGrants.ofProject(instanceId, id) };
  };
}

/** Who may make what belongs to a project. @throws NOT_FOUND PROJECT_NOT_FOUND */
export function requireInProject(deps: Pick<Deps, "db" | "tenancy" | "projectGrants">) {
  const ownedProject = projectOwnership(deps);
  return async (scope: Scope, projectId = ""): Promise<void> =>
    deps.tenancy.require(scope, await ownedProject(scope.instanceId, projectId), projects.missing);
}

/** Keeps the rows of projects that are active, of organizations that are. */
export function isInActiveProject(
  db: Database,
  row: { instanceId: Column; projectId: Column },
): SQL {
  const { instanceId, projectId: id } = row;
  const isHeld = isInActiveOrganization(db, db.table(projects.table));
  return hasRow(db, projects.table, { instanceId, id, state: "active" }, isHeld);
}

function visibleTo({ db, tenancy, projectGrants }: Pick<Deps, "db" | "tenancy" | "projectGrants">) {
  const t = db.table(projects.table);
  const { organizationId, id: projectId } = t;
  return (scope: Scope) =>
    tenancy.visible(scope, {
      organizationId,
      projectId,
      also: (reach) => projectGrants.isGranted(t, reach, true),
    });
}

/** Finds projects by ID and name. */
export function projectFinder(
  deps: Pick<Deps, "db" | "tenancy" | "projectGrants">,
): Finder<ProjectRow> {
  const { id, nameFolded } = deps.db.table(projects.table);
  return finder(deps.db, projects.table, {
    keys: (text) => [eq(id, text)],
    names: [[nameFolded]],
    visible: visibleTo(deps),
  });
}

export function projectQueries(deps: Deps) {
  const t = deps.db.table(projects.table);
  return objectQueries(
    deps,
    projects.table,
    {
      filter: ProjectSearchFilterSchema,
      sort: ProjectFieldNameSchema,
      filters: {
        grantedOrganizationId: (id) =>
          deps.projectGrants.isGranted(t, { organizations: [id], projectGrants: [] }, false),
      },
      visible: visibleTo(deps),
    },
    projects.missing,
  );
}
