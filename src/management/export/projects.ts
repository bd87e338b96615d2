import type { Database } from "../../storage/database.ts";
import { projects } from "../../resources/project/index.ts";
import { pagesOf } from "../../projection/pages.ts";
import type { Of, Part } from "./parts.ts";

/** The projects of an organization. */
export async function* projectsOf(db: Database, of: Of): AsyncGenerator<Part> {
  const { instanceId, organizationId, serviceProject } = of;
  for await (const page of pagesOf(db, projects.table, ["id"], instanceId, { organizationId })) {
    yield {
      projects: page
        .filter(({ id }) => id !== serviceProject)
        .map(({ id: projectId, state, ...row }) => ({
          projectId,
          project: {
            name: row.name,
            projectRoleAssertion: row.roleAssertion,
            projectRoleCheck: row.authorizationRequired,
            hasProjectCheck: row.projectAccessRequired,
          },
          inactive: state !== "active",
        })),
    };
  }
}
