import {
  ProjectFieldNameSchema,
  ProjectSearchFilterSchema,
} from "#gen/idsvc/resources/project/v3alpha/query_pb.ts";
import type { Scope } from "../../authz/context.ts";
import type { Reach } from "../../authz/permissions.ts";
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

/** What grants say of projects; the slice of grants answers. */
export type GrantsOfProjects = {
  /** The active grants of a project, and the organizations that they were given to. */
  ofProject(instanceId: string, projectId: string): Promise<NonNullable<Owned["grants"]>>;
  /** Keeps the projects with a grant that matches: by any of these grants, or to any of these organizations. */
  isGranted(
    project: { instanceId: Column; id: Column },
    to: Pick<Reach, "organizations" | "projectGrants">,
    onlyActive: boolean,
  ): SQL;
};

/** What other slices ask of projects: never older than the last write that changed any (B7). */
export const projectReader = (db: Database) => ({
  byId: cachedRead(db, [projects.table], rowByKey(db, projects.table)),
});

/** Where a project lives, and whom it is granted to: decides who may do what in it. */
export function projectOwnership(db: Database, grants: Pick<GrantsOfProjects, "ofProject">) {
  const { byId } = projectReader(db);
  return async (instanceId: string, id: string): Promise<Owned | undefined> => {
    const found = await byId(instanceId, id);
    if (found === undefined) return undefined;
    const { organizationId } = found;
    return { organizationId, projectId: id, grants: await grants.ofProject(instanceId, id) };
  };
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

function visibleTo(
  { db, tenancy }: Pick<Deps, "db" | "tenancy">,
  grants: Pick<GrantsOfProjects, "isGranted">,
) {
  const t = db.table(projects.table);
  const { organizationId, id: projectId } = t;
  return (scope: Scope) =>
    tenancy.visible(scope, {
      organizationId,
      projectId,
      also: (reach) => grants.isGranted(t, reach, true),
    });
}

/** Finds projects by ID and name. */
export function projectFinder(
  deps: Pick<Deps, "db" | "tenancy">,
  grants: Pick<GrantsOfProjects, "isGranted">,
): Finder<ProjectRow> {
  const { id, nameFolded } = deps.db.table(projects.table);
  return finder(deps.db, projects.table, {
    keys: (text) => [eq(id, text)],
    names: [nameFolded],
    visible: visibleTo(deps, grants),
  });
}

export function projectQueries(deps: Deps, grants: Pick<GrantsOfProjects, "isGranted">) {
  const t = deps.db.table(projects.table);
  return objectQueries(
    deps,
    projects.table,
    {
      filter: ProjectSearchFilterSchema,
      sort: ProjectFieldNameSchema,
      filters: {
        grantedOrganizationId: (id) =>
          grants.isGranted(t, { organizations: [id], projectGrants: [] }, false),
      },
      visible: visibleTo(deps, grants),
    },
    projects.missing,
  );
}
