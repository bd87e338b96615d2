import { create } from "@bufbuild/protobuf";
import { OIDCAppSchema } from "#gen/idsvc/resources/app/v3alpha/app_pb.ts";
import { consoleClientId } from "../../authz/console-client.ts";
import { ownCredentials } from "../../authz/roles.ts";
import { type Awaitable, whenKnown } from "../../awaitable.ts";
import type { Database } from "../../storage/database.ts";
import { ownProjectReader } from "../instance/index.ts";
import { projectReader } from "../project/index.ts";
import { toOidc } from "./convert.ts";
import type { FoundClient, FoundConfig } from "./readers.ts";

// As apps are made of which nothing is said; its redirects are known by the address that the instance is called at.
const config: FoundConfig = {
  kind: "oidc",
  oidc: toOidc(create(OIDCAppSchema, { strictAssertionAudience: true })),
  refusedRedirectUris: [],
};

/**
 * The app that the console is: of each instance, in its own project, and stored nowhere, so that nobody changes or removes it. Its
 * tokens carry what their user may do, ways to log in included: they never leave the service (decision 0351).
 */
export function consoleApp(
  db: Database,
): (instanceId: string) => Awaitable<FoundClient | undefined> {
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

const apiAccess: FoundClient["apiAccess"] = {
  permissions: ["*", ownCredentials],
  instance: true,
  organizationIds: [],
  trusted: true,
};
