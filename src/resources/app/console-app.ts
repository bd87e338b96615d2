import { create } from "@bufbuild/protobuf";
import { AppSchema } from "#gen/idsvc/resources/app/v3alpha/app_pb.ts";
import { ownCredentials } from "../../authz/roles.ts";
import { type Awaitable, whenKnown } from "../../awaitable.ts";
import type { Deps } from "../../projection/module.ts";
import type { Database } from "../../storage/database.ts";
import { ownProjectReader } from "../instance/index.ts";
import { projectReader } from "../project/index.ts";
import { toConfig } from "./convert.ts";
import type { FoundApp } from "./readers.ts";

/** What the console is called as a client. No app, user or machine can have the id (J7). */
export const consoleClientId = "idsvc:console";

/** Where the log-in of the console ends, below the address that the instance is called at. */
export const consoleCallback = "/ui/console/callback";

// As apps are made of which nothing is said; its redirects are known by the address that the instance is called at.
const config = toConfig(
  create(AppSchema, { config: { case: "oidc", value: { strictAssertionAudience: true } } }),
);

/**
 * The app that the console is: of each instance, in its own project, and stored nowhere, so that nobody changes or removes it. Its
 * tokens carry what their user may do, ways to log in included: they never leave the service (decision 0351).
 */
export function consoleApp(db: Database): (instanceId: string) => Awaitable<FoundApp | undefined> {
  const ownProject = ownProjectReader(db);
  const projects = projectReader(db);
  return (instanceId) =>
    whenKnown(ownProject(instanceId), (projectId) =>
      whenKnown(
        projects.byId(instanceId, projectId),
        (project) =>
          project && {
            id: consoleClientId,
            clientId: consoleClientId,
            name: "Console",
            projectId: project.id,
            organizationId: project.organizationId,
            config,
            isActive: true,
            apiAccess,
            isOwnerMade: true,
            isLegacy: false,
          },
      ),
    );
}

/** What the service proves itself with as that client; it follows from the keys of the instance. */
export const consoleSecret = (
  secrets: Pick<Deps["secrets"], "digest">,
  instanceId: string,
): Awaitable<string> => secrets.digest(instanceId, "console:client");

const apiAccess: FoundApp["apiAccess"] = {
  permissions: ["*", ownCredentials],
  instance: true,
  organizationIds: [],
  trusted: true,
};
