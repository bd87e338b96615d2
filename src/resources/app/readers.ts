import type { FoundApp } from "../../authz/apps.ts";
import { consoleClientId } from "../../authz/console-client.ts";
import { type Awaitable, whenKnown } from "../../awaitable.ts";
import type { Database } from "../../storage/database.ts";
import { cachedRows, rowWhere, rowsWhere } from "../../projection/rows.ts";
import { and, eq } from "../../storage/drizzle.ts";
import { cachedRead } from "../../storage/read-cache.ts";
import { organizationReader } from "../org/index.ts";
import { ownProjectReader } from "../instance/index.ts";
import { projectReader } from "../project/index.ts";
import { apps } from "./application.ts";
import { refusedRedirects } from "./compliance.ts";
import type { ApiConfig, OidcConfig } from "./config.ts";
import { consoleApp } from "./console-app.ts";
import { formerAudiences, ownProjectName } from "./former-access.ts";
import { appKeys, appOrigins } from "./rows.ts";
import { type AppRow, oidcOf } from "./queries.ts";

/** A client as OAuth sees it. */
export type FoundClient = FoundApp & { id: string; config: FoundConfig };

export type FoundConfig =
  | { kind: "api"; api: ApiConfig }
  | { kind: "oidc"; oidc: OidcConfig; refusedRedirectUris: readonly string[] };

export type FoundAppKey = { publicKey: string; expirationDate: Date | null };

/** Whether an app had tokens for our APIs before apps needed an access to them, and has it still. */
export function legacyAccessReader(db: Database) {
  const ownProject = ownProjectReader(db);
  const audiences = cachedRows(db, formerAudiences, "clientId");
  return (instanceId: string, clientId: string): Awaitable<boolean> =>
    whenKnown(audiences(instanceId, clientId), (found) =>
      found.length === 0
        ? false
        : whenKnown(ownProject(instanceId), (id) =>
            found.some(({ audience }) => [ownProjectName, id].includes(audience)),
          ),
    );
}

/** Whether what holds an app, its project and its organization, is active. */
export function heldInUse(db: Database) {
  const projects = projectReader(db);
  const organizations = organizationReader(db);
  return (
    instanceId: string,
    { projectId, organizationId }: Pick<AppRow, "projectId" | "organizationId">,
  ): Awaitable<boolean> =>
    whenKnown(projects.byId(instanceId, projectId), (project) =>
      whenKnown(
        organizations.byId(instanceId, organizationId),
        (organization) => project?.state === "active" && organization?.state === "active",
      ),
    );
}

/** What others ask of apps; never older than the last write that changed any of it (B7). */
export function appReader(db: Database) {
  const t = db.table(apps);
  const origins = db.table(appOrigins);
  const isInUse = heldInUse(db);
  const isLegacyApp = legacyAccessReader(db);
  const console = consoleApp(db);

  const byClientId = cachedRead(db, [apps], async (instanceId, clientId) => {
    const [row] = await rowsWhere(db, apps, { instanceId, clientId });
    return row && { ...row, config: configOf(row) };
  });
  const keyById = cachedRead(db, [appKeys], async (instanceId, _, key: [string, string]) => {
    const [appId, id] = key;
    return rowWhere(db, appKeys, { instanceId, appId, id });
  });
  const clientIds = cachedRead(db, [apps], async (instanceId, projectId) =>
    (await rowsWhere(db, apps, { instanceId, projectId })).map(({ clientId }) => clientId),
  );
  const withOrigin = cachedRead(db, [apps, appOrigins], (instanceId, origin) =>
    db.read
      .selectDistinct({ projectId: t.projectId, organizationId: t.organizationId })
      .from(origins)
      .innerJoin(t, and(eq(t.instanceId, origins.instanceId), eq(t.id, origins.appId)))
      .where(
        and(eq(origins.instanceId, instanceId), eq(origins.origin, origin), eq(t.state, "active")),
      ),
  );

  return {
    byClientId: (instanceId: string, clientId: string): Awaitable<FoundClient | undefined> =>
      clientId === consoleClientId
        ? console(instanceId)
        : whenKnown(byClientId(instanceId, clientId), (row) => {
            if (row === undefined) return undefined;
            const { id, name, projectId, organizationId, config, state, isOwnerMade } = row;
            const app = { id, clientId, name, projectId, organizationId, config, isOwnerMade };
            const apiAccess = row.apiAccess ?? undefined;
            return whenKnown(isInUse(instanceId, row), (inUse) =>
              whenKnown(isLegacyApp(instanceId, clientId), (isLegacy) => ({
                ...app,
                apiAccess,
                isLegacy,
                isActive: state === "active" && inUse,
              })),
            );
          }),
    /** A key of an app, also one that has ended. */
    async keyOf(
      instanceId: string,
      appId: string,
      keyId: string,
    ): Promise<FoundAppKey | undefined> {
      return keyById(instanceId, JSON.stringify([appId, keyId]), [appId, keyId]);
    },
    /** The client ids of the apps of a project: the audience of its tokens. */
    async clientIdsOf(instanceId: string, projectId: string): Promise<readonly string[]> {
      return clientIds(instanceId, projectId);
    },
    /** Whether browsers may call from here: an origin of an active app, by its redirects or named beside them (A3). */
    async isAllowedOrigin(instanceId: string, origin: string): Promise<boolean> {
      for (const app of await withOrigin(instanceId, origin)) {
        if (await isInUse(instanceId, app)) return true;
      }
      return false;
    },
  };
}

function configOf(row: AppRow): FoundConfig {
  if (row.kind === "oidc") {
    const oidc = oidcOf(row);
    return { kind: "oidc", oidc, refusedRedirectUris: refusedRedirects(oidc) };
  }
  const authMethodType = row.authMethodType === "basic" ? "basic" : "private_key_jwt";
  return { kind: "api", api: { authMethodType } };
}
