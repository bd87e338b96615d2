import { ownCredentials } from "../../authz/roles.ts";
import { type Awaitable, whenKnown } from "../../awaitable.ts";
import type { Deps } from "../../projection/module.ts";
import type { Database } from "../../storage/database.ts";
import { ownProjectReader } from "../instance/index.ts";
import { projectReader } from "../project/index.ts";
import type { OidcConfig } from "./config.ts";
import type { FoundApp } from "./readers.ts";

/** What the console is called as a client. No app, user or machine can have the id (J7). */
export const consoleClientId = "idsvc:console";

/** Where the log-in of the console ends, below the address that the instance is called at. */
export const consoleCallback = "/ui/console/callback";

const config: OidcConfig = {
  appType: "web",
  // Known by the address that the instance is called at.
  redirectUris: [],
  postLogoutRedirectUris: [],
  responseTypes: ["code"],
  grantTypes: ["authorization_code"],
  authMethodType: "basic",
  accessTokenType: "bearer",
  accessTokenRoleAssertion: false,
  idTokenRoleAssertion: false,
  idTokenUserinfoAssertion: false,
  clockSkewMs: 0,
  additionalOrigins: [],
  devMode: false,
  backChannelLogoutUri: "",
  idTokenSignedResponseAlg: "RS256",
  strictAssertionAudience: true,
};

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
            config: { kind: "oidc", oidc: config },
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
