import { create } from "@bufbuild/protobuf";
import {
  type ApiAppData,
  ImportedApiAppSchema,
  ImportedAppKeySchema,
  ImportedOidcAppSchema,
  type OidcAppData,
} from "#gen/idsvc/management/v1/data_pb.ts";
import { AppSchema } from "#gen/idsvc/resources/app/v3alpha/app_pb.ts";
import { requireChosenId } from "../../authz/chosen-id.ts";
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
import { requireOrganization } from "../../resources/org/index.ts";
import { toEnd, toPublicKey } from "./keys.ts";
import {
  created,
  existed,
  kind,
  type Kind,
  note,
  type ImportContext,
  type Ref,
  type Write,
} from "./kind.ts";
import { newIdGuard } from "./new-id.ts";
import { idTaken, ownerOf, requireOwnProject } from "./own-project.ts";

/** Apps of both kinds, and their keys. */
export function appKinds(deps: Deps): Kind[] {
  const newApp = appMaker(deps);
  const { now } = deps;
  type Imported = { appId: string; app?: OidcAppData | ApiAppData | undefined; inactive: boolean };
  const ofApps = {
    idOf: ({ appId }: Imported) => appId,
    refs: ({ appId, app: of }: Imported, orgId: string) => refsOfApp(appId, of, orgId),
    begin: ({ appId, app: of, inactive }: Imported, importContext: ImportContext) =>
      newApp(appId, of, inactive, importContext),
  };
  return [
    kind("oidcApps", { type: ImportedOidcAppSchema, ...ofApps }),
    kind("apiApps", { type: ImportedApiAppSchema, ...ofApps }),
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
  ];
}

function appMaker(deps: Deps) {
  const { newId, checkUrl } = deps;
  const requireNewId = newIdGuard(deps);
  return (
    appId: string,
    wanted: OidcAppData | ApiAppData | undefined,
    inactive: boolean,
    importContext: ImportContext,
  ): Write => {
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
      return created(note("app", appId, { orgId }));
    };
  };
}

const refsOfApp = (id: string, of: { projectId: string } | undefined, orgId: string): Ref[] => [
  { type: "organization", id: orgId },
  { type: "project", id: of?.projectId ?? "" },
  { type: "app", id, isNew: true },
];

function toConfig(wanted: OidcAppData | ApiAppData): AppConfig {
  const { projectId, name } = wanted;
  const isApi = wanted.$typeName === "idsvc.management.v1.ApiAppData";
  const { $typeName: _, projectId: _project, name: _name, clientId: _client, ...rest } = wanted;
  const config = isApi
    ? { case: "api" as const, value: { authMethodType: wanted.authMethodType } }
    : { case: "oidc" as const, value: rest };
  return toSoundConfig(create(AppSchema, { projectId, name, config }));
}
