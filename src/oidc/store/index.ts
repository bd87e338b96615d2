import type { FeatureReader, NoteRefusal, NoteUse } from "../../authz/ports.ts";
import { presenceAs } from "../../authz/presence.ts";
import { acrOf, strengths } from "../../authz/step-up.ts";
import { sweepExpiredRows } from "../../jobs/expired-rows.ts";
import type { Deps, Module } from "../../projection/module.ts";
import type { Reactions } from "../../projection/projection.ts";
import type { Ports } from "../core/ports.ts";
import type { AppPorts } from "./app-ports.ts";
import { clientStore } from "./clients.ts";
import { deviceStore, userCodeRef } from "./devices.ts";
import { deviceEvents, oidcSessionEvents, refreshTokenEvents, tokenEvents } from "./events.ts";
import { type KeyPorts, keyStore } from "./keys.ts";
import { oidcSessionProjection } from "./projection.ts";
import {
  logoutEvents,
  logoutJobs,
  type LogoutPorts,
  logoutProjection,
  startLogouts,
} from "./logouts.ts";
import { newSecret } from "./secrets.ts";
import { sweepOidcSessions } from "./sessions.ts";
import { type SettingPorts, settingStore } from "./settings.ts";
import {
  accessTokens,
  assertionIds,
  authorizationCodes,
  deviceAuthorizations,
  idTokens,
  refreshTokens,
} from "./tables.ts";
import { type TokenPorts, tokenStore } from "./tokens.ts";
import { userStore } from "./users.ts";

export { endOfApiConsents, endOfApp, endOfConsent, formerTokens } from "./projection.ts";
export { tokensInName } from "./tokens-in-name.ts";
export { endKept, signedInApps, tokenUse } from "./token-use.ts";
export { oidcAccessTokens } from "./verifier.ts";

const expiring = [accessTokens, idTokens, refreshTokens, authorizationCodes, assertionIds];

/** What the provider asks of the service, beside what every slice may use. */
export type OidcPorts = AppPorts &
  LogoutPorts &
  KeyPorts &
  SettingPorts &
  TokenPorts & { noteUse: NoteUse };

/**
 * What the OpenID Provider keeps.
 * @param endings what ends tokens beside what the provider knows
 */
export const oidcModule = (...endings: Reactions[]): Module<Deps & OidcPorts> => ({
  events: [oidcSessionEvents, tokenEvents, refreshTokenEvents, deviceEvents, logoutEvents],
  projections: [oidcSessionProjection(...endings), logoutProjection],
  state: [...expiring, deviceAuthorizations],
  sweeps: (deps) => [
    ...expiring.map((rows) => sweepExpiredRows(deps, rows)),
    sweepExpiredRows(deps, deviceAuthorizations, ({ instanceId, id }) => [
      deps.secrets.remove(userCodeRef(String(instanceId), String(id))),
    ]),
    sweepOidcSessions(deps),
  ],
  jobs: (deps) => logoutJobs({ ...deps, clients: clientStore(deps), keys: keyStore(deps) }, deps),
  background: (deps, onError) => startLogouts(deps, onError),
});

/** The ports of what clients call. */
export function clientPorts(
  deps: Pick<
    Deps,
    | "apps"
    | "db"
    | "events"
    | "memberships"
    | "projectGrants"
    | "userGrants"
    | "secrets"
    | "policies"
    | "now"
    | "newId"
  > &
    AppPorts &
    SettingPorts &
    KeyPorts &
    TokenPorts & {
      features: FeatureReader;
      noteUse: NoteUse;
      noteRefusal: NoteRefusal;
    },
): Omit<Ports, "browsers" | "interactions" | "functions" | "consents"> {
  const { now, newId } = deps;
  const settings = settingStore(deps);
  const clients = clientStore(deps);
  const users = userStore({ ...deps, settings });
  const tokens = tokenStore({ ...deps, users, clients });
  const keys = keyStore(deps);
  const devices = deviceStore(deps);
  return {
    clients,
    users,
    tokens,
    devices,
    keys,
    settings,
    now,
    newId,
    noteRefusedClient(at, operation, client) {
      deps.noteRefusal({
        instanceId: at.instanceId,
        kind: "client",
        reason: "INVALID_CLIENT",
        operation,
        clientId: client?.clientId,
        organizationId: client?.organizationId,
        presence: at.where && presenceAs(at.where, {}),
      });
    },
    acrValues: strengths.map(acrOf),
    newSecret: (kind) => newSecret(kind, now()),
  };
}
