import { create } from "@bufbuild/protobuf";
import {
  type ApiAppData,
  ImportedApiAppSchema,
  ImportedAppKeySchema,
  ImportedOidcAppSchema,
  ImportedProjectGrantSchema,
  ImportedProjectSchema,
  ImportedRoleSchema,
  type OidcAppData,
} from "#gen/idsvc/management/v1/data_pb.ts";
import { AppSchema } from "#gen/idsvc/resources/app/v3alpha/app_pb.ts";
import { requireChosenId } from "../../authz/chosen-id.ts";
import { alreadyExists } from "../../errors.ts";
import type { Loaded } from "../../eventstore/eventstore.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import {
  addApp,
  addKey,
  app,
  type AppConfig,
  appNotFound,
  appResource,
  toSoundConfig,
} from "../../resources/app/index.ts";
import { addProjectGrant, projectGrants, requireKeys, roles } from "../../resources/grant/index.ts";
import { requireOrganization } from "../../resources/org/index.ts";
import { deactivateProject, projectNotFound, projects } from "../../resources/project/index.ts";
import { textIn } from "../convert.ts";
import { toEnd, toPublicKey } from "./keys.ts";
import {
  created,
  existed,
  kind,
  type Kind,
  type Known,
  note,
  type NoteType,
  type ImportContext,
  type Write,
} from "./kind.ts";
import { newIdGuard } from "./new-id.ts";

/** Projects, their roles and apps, and to whom they are granted. */
export function projectKinds(deps: Deps): Kind[] {
  const { newId, checkUrl, now } = deps;
  const requireNewId = newIdGuard(deps);

  function newApp(
    appId: string,
    wanted: OidcAppData | ApiAppData | undefined,
    inactive: boolean,
    importContext: ImportContext,
  ): Write {
    const { orgId, known } = importContext;
    if (wanted === undefined) throw new Error("validation requires what the app is");
    const config = toConfig(wanted);
    if (config.kind === "oidc" && config.oidc.backChannelLogoutUri !== "") {
      checkUrl(config.oidc.backChannelLogoutUri, "app.back_channel_logout_uri");
    }
    const { projectId, name } = wanted;
    const clientId = wanted.clientId || newId();
    return async (tx) => {
      await requireOwnProject(tx, projectId, importContext);
      const loaded = await tx.load(app, appId);
      if (loaded.state !== undefined) {
        const owner = await ownerOf(known, "app", loaded);
        if (loaded.state.projectId !== projectId || owner !== orgId)
          throw idTaken("APP_ID_TAKEN", "an app");
        return existed;
      }
      if (loaded.version > 0n) throw idTaken("APP_ID_TAKEN", "an app");
      await requireNewId(tx, importContext, appId, { field: "app_id", taken: "APP_ID_TAKEN" });
      if (wanted.clientId !== "") await requireNewId.ofClient(tx, importContext, clientId);
      const added = addApp(loaded.state, { projectId, name, clientId, config });
      tx.record(app, loaded, added, { type: "org", id: orgId });
      if (inactive) tx.record(app, loaded, appResource.deactivate(loaded.state));
      return created(note("app", appId, { projectId, orgId, clientId, kind: config.kind }));
    };
  }

  return [
    kind("projects", {
      type: ImportedProjectSchema,
      idOf: ({ projectId }) => projectId,
      refs: ({ projectId }, orgId) => [
        { type: "organization", id: orgId },
        { type: "project", id: projectId },
      ],
      begin:
        ({ projectId, project: wanted, inactive }, importContext) =>
        async (tx) => {
          const { orgId, known } = importContext;
          await requireOrganization(tx, orgId);
          const loaded = await tx.load(projects.aggregate, projectId);
          if (
            loaded.state === undefined
              ? loaded.version > 0n
              : (await ownerOf(known, "project", loaded)) !== orgId
          ) {
            throw idTaken("PROJECT_ID_TAKEN", "a project");
          }
          if (loaded.state !== undefined) return existed;
          const named = { field: "project_id", taken: "PROJECT_ID_TAKEN" };
          await requireNewId(tx, importContext, projectId, named);
          const added = projects.add(loaded.state, {
            name: wanted?.name ?? "",
            roleAssertion: wanted?.projectRoleAssertion ?? false,
            authorizationRequired: wanted?.projectRoleCheck ?? false,
            projectAccessRequired: wanted?.hasProjectCheck ?? false,
          });
          tx.record(projects.aggregate, loaded, added, { type: "org", id: orgId });
          if (inactive)
            tx.record(projects.aggregate, loaded, deactivateProject(loaded.state, false));
          return created(note("project", projectId, { orgId }));
        },
    }),
    kind("projectRoles", {
      type: ImportedRoleSchema,
      idOf: ({ projectId, roleKey }) => `${projectId}/${roleKey}`,
      refs: ({ projectId }, orgId) => [
        { type: "organization", id: orgId },
        { type: "project", id: projectId },
      ],
      begin:
        ({ projectId, roleKey: key, displayName, group }, importContext) =>
        async (tx) => {
          const { orgId, known } = importContext;
          await requireOwnProject(tx, projectId, importContext);
          if ((await known.roleKeys(projectId, [key])).length > 0) return existed;
          const loaded = tx.begin(roles.aggregate, newId());
          const added = roles.add(loaded.state, { projectId, key, displayName, group });
          tx.record(roles.aggregate, loaded, added, { type: "org", id: orgId });
          return created(note("role", `${projectId}/${key}`));
        },
    }),
    kind("oidcApps", {
      type: ImportedOidcAppSchema,
      idOf: ({ appId }) => appId,
      refs: ({ appId, app: of }, orgId) => refsOfApp(appId, of, orgId),
      begin: ({ appId, app: of, inactive }, importContext) =>
        newApp(appId, of, inactive, importContext),
    }),
    kind("apiApps", {
      type: ImportedApiAppSchema,
      idOf: ({ appId }) => appId,
      refs: ({ appId, app: of }, orgId) => refsOfApp(appId, of, orgId),
      begin: ({ appId, app: of, inactive }, importContext) =>
        newApp(appId, of, inactive, importContext),
    }),
    kind("appKeys", {
      type: ImportedAppKeySchema,
      idOf: ({ id }) => id,
      refs: ({ appId }, orgId) => [
        { type: "organization", id: orgId },
        { type: "app", id: appId },
      ],
      begin: ({ id: keyId, appId, publicKey: bytes, expirationDate }, { orgId, known }) => {
        const publicKey = toPublicKey(bytes);
        const ends = toEnd(expirationDate, now());
        return async (tx) => {
          await requireOrganization(tx, orgId);
          const loaded = await tx.load(app, appId);
          if (loaded.state === undefined || (await ownerOf(known, "app", loaded)) !== orgId) {
            throw appNotFound();
          }
          const noteId = `${appId}/${keyId}`;
          const isKnown = (await known.find("appKey", noteId)) !== undefined;
          if (isKnown || loaded.state.keyIds.includes(keyId)) return existed;
          requireChosenId(keyId, "id", { allDigits: true });
          tx.record(app, loaded, addKey(loaded.state, { keyId, publicKey, ...ends }));
          return created(note("appKey", noteId));
        };
      },
    }),
    kind("projectGrants", {
      type: ImportedProjectGrantSchema,
      idOf: ({ grantId }) => grantId,
      refs: ({ grantId, projectGrant: of }, orgId) => [
        { type: "organization", id: orgId },
        { type: "organization", id: of?.grantedOrgId ?? "" },
        { type: "project", id: of?.projectId ?? "" },
        { type: "projectGrant", id: grantId },
      ],
      begin:
        ({ grantId, projectGrant: wanted, inactive }, importContext) =>
        async (tx) => {
          const { orgId, known } = importContext;
          if (wanted === undefined) throw new Error("validation requires what is granted");
          const { projectId, grantedOrgId: grantedOrganizationId, roleKeys } = wanted;
          await requireOwnProject(tx, projectId, importContext);
          await requireOrganization(tx, grantedOrganizationId);
          const loaded = await tx.load(projectGrants.aggregate, grantId);
          if (loaded.state !== undefined) {
            const isSame =
              loaded.state.projectId === projectId &&
              loaded.state.grantedOrganizationId === grantedOrganizationId;
            if (!isSame) throw idTaken("PROJECT_GRANT_ID_TAKEN", "a project grant");
            return existed;
          }
          if (loaded.version > 0n) throw idTaken("PROJECT_GRANT_ID_TAKEN", "a project grant");
          requireChosenId(grantId, "grant_id", { allDigits: true });
          const keys = await known.roleKeys(projectId, roleKeys);
          requireKeys(roleKeys, keys, "project_grant.role_keys", "the project");
          const config = { projectId, grantedOrganizationId, roleKeys };
          const added = addProjectGrant(loaded.state, config);
          tx.record(projectGrants.aggregate, loaded, added, { type: "org", id: orgId });
          if (inactive)
            tx.record(projectGrants.aggregate, loaded, projectGrants.deactivate(loaded.state));
          return created(note("projectGrant", grantId, { ...config, orgId }));
        },
    }),
  ];
}

const refsOfApp = (id: string, of: { projectId: string } | undefined, orgId: string) => [
  { type: "organization" as const, id: orgId },
  { type: "project" as const, id: of?.projectId ?? "" },
  { type: "app" as const, id },
];

/** @throws NOT_FOUND PROJECT_NOT_FOUND also for a project of another organization */
export async function requireOwnProject(
  tx: Transaction,
  projectId: string,
  { orgId, known }: ImportContext,
): Promise<void> {
  await requireOrganization(tx, orgId);
  const loaded = await tx.load(projects.aggregate, projectId);
  if (loaded.state === undefined || (await ownerOf(known, "project", loaded)) !== orgId) {
    throw projectNotFound();
  }
}

/** The organization that an object belongs to, also before the object is in the store. */
export async function ownerOf(
  known: Known,
  type: NoteType,
  { id, last }: Loaded<unknown>,
): Promise<string> {
  return last?.owner.id ?? textIn(await known.find(type, id), "orgId");
}

export const idTaken = (reason: string, what: string) =>
  alreadyExists(reason, `the id is or was that of ${what} elsewhere`);

function toConfig(wanted: OidcAppData | ApiAppData): AppConfig {
  const { projectId, name } = wanted;
  const isApi = wanted.$typeName === "idsvc.management.v1.ApiAppData";
  const { $typeName: _, projectId: _project, name: _name, clientId: _client, ...rest } = wanted;
  const config = isApi
    ? { case: "api" as const, value: { authMethodType: wanted.authMethodType } }
    : { case: "oidc" as const, value: rest };
  return toSoundConfig(create(AppSchema, { projectId, name, config }));
}
