import type { NoteUse } from "../../authz/ports.ts";
import { whenKnown } from "../../awaitable.ts";
import type { Deps } from "../../projection/module.ts";
import {
  appReader,
  type FoundApp,
  isClientSecretOf,
  problemsOfRedirect,
} from "../../resources/app/index.ts";
import { onlySecret } from "../../authz/ports.ts";
import { constantTime } from "../../constant-time.ts";
import { projectReader } from "../../resources/project/index.ts";
import type { Client, Clients } from "../core/ports.ts";

type Parts = Pick<Deps, "db" | "secrets" | "now"> & { noteUse: NoteUse };

// No app has it: ids are numbers.
const nobody = "";
// Longer than it takes to look a secret up, whether it is remembered or not.
const refusalMs = 10;

/** The apps of an instance as OAuth clients. */
export function clientStore({ db, secrets, now, noteUse }: Parts): Clients {
  const apps = appReader(db);
  const { refusals } = constantTime(refusalMs);
  const projects = projectReader(db);
  // What an app was made to as long as it does not change: the configuration is made anew with every change.
  const made = new WeakMap<FoundApp["config"], Client>();

  function clientOf(app: FoundApp, roleAssertion: boolean): Client {
    let client = made.get(app.config);
    if (client?.projectRoleAssertion !== roleAssertion || client.isLegacy !== app.isLegacy) {
      made.set(app.config, (client = toClient(app, roleAssertion)));
    }
    return client;
  }

  return {
    byId: ({ instanceId }, clientId) =>
      whenKnown(apps.byClientId(instanceId, clientId), (app) => {
        if (app === undefined || !app.isActive) return undefined;
        return whenKnown(projects.byId(instanceId, app.projectId), (project) =>
          clientOf(app, project?.roleAssertion ?? false),
        );
      }),

    isSecret({ instanceId }, client, secret) {
      const ownerId = client?.appId ?? nobody;
      const judged = refusals(() =>
        isClientSecretOf(secrets, { instanceId, appId: ownerId }, secret),
      );
      return whenKnown(judged, (isIt) => {
        if (isIt) noteUse({ instanceId, ownerId, ...onlySecret });
        return isIt;
      });
    },

    async keyOf({ instanceId }, { appId }, kid) {
      const key = await apps.keyOf(instanceId, appId, kid);
      if (key === undefined) return undefined;
      const hasEnded = key.expirationDate !== null && key.expirationDate <= now();
      return hasEnded ? undefined : key.publicKey;
    },

    keyUsed: ({ instanceId }, { appId }, id) =>
      noteUse({ instanceId, ownerId: appId, kind: "key", id }),

    ofProject: ({ instanceId }, projectId) => apps.clientIdsOf(instanceId, projectId),
  };
}

function toClient(app: FoundApp, projectRoleAssertion: boolean): Client {
  const { id: appId, clientId, name, projectId, organizationId, config } = app;
  const { apiAccess, isOwnerMade, isLegacy } = app;
  const common = {
    ...{ appId, clientId, name, projectId, organizationId, projectRoleAssertion },
    ...{ apiAccess, isOwnerMade, isLegacy },
  };
  if (config.kind === "api") {
    return { ...common, kind: "api", authMethod: config.api.authMethodType, ...noLogin };
  }
  const { authMethodType, idTokenSignedResponseAlg, ...oidc } = config.oidc;
  const refused = oidc.devMode
    ? []
    : oidc.redirectUris.filter((uri) => problemsOfRedirect(config.oidc, uri).length > 0);
  return {
    ...common,
    kind: "oidc",
    authMethod: authMethodType,
    redirectUris: oidc.redirectUris.filter((uri) => !refused.includes(uri)),
    refusedRedirectUris: refused,
    postLogoutRedirectUris: oidc.postLogoutRedirectUris,
    responseTypes: oidc.responseTypes,
    grantTypes: oidc.grantTypes,
    accessTokenType: oidc.accessTokenType,
    accessTokenRoleAssertion: oidc.accessTokenRoleAssertion,
    idTokenRoleAssertion: oidc.idTokenRoleAssertion,
    idTokenUserinfoAssertion: oidc.idTokenUserinfoAssertion,
    clockSkewMs: oidc.clockSkewMs,
    idTokenAlg: idTokenSignedResponseAlg,
    backChannelLogoutUri: oidc.backChannelLogoutUri,
    strictAssertionAudience: oidc.strictAssertionAudience,
  };
}

const noLogin = {
  redirectUris: [],
  refusedRedirectUris: [],
  postLogoutRedirectUris: [],
  responseTypes: [],
  grantTypes: [],
  accessTokenType: "bearer",
  accessTokenRoleAssertion: false,
  idTokenRoleAssertion: false,
  idTokenUserinfoAssertion: false,
  clockSkewMs: 0,
  idTokenAlg: "RS256",
  backChannelLogoutUri: "",
  strictAssertionAudience: false,
} as const;
