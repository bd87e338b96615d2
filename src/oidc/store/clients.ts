import { consoleCallback, consoleClientId, consoleSecret } from "../../authz/console-client.ts";
import { type NoteUse, onlySecret } from "../../authz/ports.ts";
import { type Awaitable, whenKnown } from "../../awaitable.ts";
import type { Deps } from "../../projection/module.ts";
import { equalInConstantTime } from "../../crypto/digests.ts";
import { constantTime } from "../../constant-time.ts";
import { projectReader } from "../../resources/project/index.ts";
import type { At, Client, Clients } from "../core/ports.ts";
import type { AppPorts, ClientApp } from "./app-ports.ts";

type Parts = Pick<Deps, "db" | "secrets" | "now"> & AppPorts & { noteUse: NoteUse };

// No app has it: ids are numbers.
const nobody = "";
// Longer than it takes to look a secret up, whether it is remembered or not.
const refusalMs = 10;

/** The apps of an instance as OAuth clients. */
export function clientStore({ db, secrets, now, clientApps: apps, noteUse }: Parts): Clients {
  const { refusals } = constantTime(refusalMs);
  const projects = projectReader(db);
  // What an app was made to as long as it does not change: the configuration is made anew with every change.
  const made = new WeakMap<ClientApp["config"], Client>();

  function clientOf(app: ClientApp, roleAssertion: boolean): Client {
    let client = made.get(app.config);
    if (client?.projectRoleAssertion !== roleAssertion || client.isLegacy !== app.isLegacy) {
      made.set(app.config, (client = toClient(app, roleAssertion)));
    }
    return client;
  }

  // The console goes back to the address at which it was called: one client for each.
  const consoles = new Map<string, Client>();
  function consoleAt({ instanceId, issuer }: At): Awaitable<Client | undefined> {
    return whenKnown(apps.byClientId(instanceId, consoleClientId), (app) => {
      if (app === undefined) return undefined;
      const key = JSON.stringify([instanceId, issuer]);
      const found = consoles.get(key) ?? {
        ...toClient(app, false),
        redirectUris: [`${issuer}${consoleCallback}`],
      };
      consoles.set(key, found);
      return found;
    });
  }

  return {
    byId: (at, clientId) =>
      clientId === consoleClientId
        ? consoleAt(at)
        : whenKnown(apps.byClientId(at.instanceId, clientId), (app) => {
            if (app === undefined || !app.isActive) return undefined;
            return whenKnown(projects.byId(at.instanceId, app.projectId), (project) =>
              clientOf(app, project?.roleAssertion ?? false),
            );
          }),

    isSecret({ instanceId }, client, secret) {
      if (client?.clientId === consoleClientId) {
        return whenKnown(consoleSecret(secrets, instanceId), (own) =>
          equalInConstantTime(Buffer.from(secret), Buffer.from(own)),
        );
      }
      const ownerId = client?.appId ?? nobody;
      const judged = refusals(() => apps.isSecretOf({ instanceId, appId: ownerId }, secret));
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

function toClient(app: ClientApp, projectRoleAssertion: boolean): Client {
  const { id: appId, clientId, name, projectId, organizationId, config } = app;
  const { apiAccess, isOwnerMade, isLegacy } = app;
  const common = {
    appId,
    clientId,
    name,
    projectId,
    organizationId,
    projectRoleAssertion,
    apiAccess,
    isOwnerMade,
    isLegacy,
  };
  if (config.kind === "api") {
    return { ...common, kind: "api", authMethod: config.api.authMethodType, ...noLogin };
  }
  const { authMethodType, idTokenSignedResponseAlg, ...oidc } = config.oidc;
  const refused = config.refusedRedirectUris;
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
