import { alreadyExists, failedPrecondition, notFound, resourceExhausted } from "../../errors.ts";
import { aggregate, changedFields, isEmpty, type Patch } from "../../eventstore/aggregate.ts";
import {
  type ApiAccess,
  type ApiConfig,
  type AppEvent,
  appEvents,
  type AppKey,
  type OidcConfig,
} from "./events.ts";

/** What an app is beside its name: a client of OpenID Connect, or an API. */
export type AppConfig = { kind: "oidc"; oidc: OidcConfig } | { kind: "api"; api: ApiConfig };
export type AppPatch =
  | { kind: "oidc"; oidc: Patch<OidcConfig> }
  | { kind: "api"; api: Patch<ApiConfig> };

export type App = {
  projectId: string;
  name: string;
  state: "active" | "inactive";
  clientId: string;
  keyIds: string[];
  config: AppConfig;
  apiAccess?: ApiAccess;
  /** Who made the app, and last changed what answers for it, could do everything in the instance. */
  isOwnerMade?: boolean;
};

type State = App | undefined;

export const app = aggregate(appEvents, undefined as State, evolve);

// Until its configuration follows, which it does in the same unit.
const bare: AppConfig = { kind: "api", api: { authMethodType: "basic" } };

function evolve(state: State, event: AppEvent): State {
  if (event.type === "project.application.added") {
    return { ...event.payload, state: "active", clientId: "", keyIds: [], config: bare };
  }
  if (state === undefined) return undefined;
  switch (event.type) {
    case "project.application.changed":
      return { ...state, name: event.payload.name };
    case "project.application.deactivated":
      return { ...state, state: "inactive" };
    case "project.application.reactivated":
      return { ...state, state: "active" };
    case "project.application.removed":
      return undefined;
    case "project.application.config.oidc.added": {
      const { clientId, ...oidc } = event.payload;
      return { ...state, clientId, config: { kind: "oidc", oidc } };
    }
    case "project.application.config.api.added": {
      const { clientId, ...api } = event.payload;
      return { ...state, clientId, config: { kind: "api", api } };
    }
    case "project.application.config.oidc.changed":
      return state.config.kind === "oidc"
        ? { ...state, config: { kind: "oidc", oidc: { ...state.config.oidc, ...event.payload } } }
        : state;
    case "project.application.config.api.changed":
      return state.config.kind === "api"
        ? { ...state, config: { kind: "api", api: { ...state.config.api, ...event.payload } } }
        : state;
    case "project.application.config.oidc.secret.changed":
    case "project.application.config.api.secret.changed":
      return state;
    case "project.application.oidc.key.added":
    case "project.application.api.key.added":
      return { ...state, keyIds: [...state.keyIds, event.payload.keyId] };
    case "project.application.oidc.key.removed":
    case "project.application.api.key.removed": {
      const { keyId } = event.payload;
      return { ...state, keyIds: state.keyIds.filter((id) => id !== keyId) };
    }
    case "project.application.api_access.changed": {
      const { apiAccess: _, ...rest } = state;
      const { access } = event.payload;
      return access === undefined ? rest : { ...rest, apiAccess: access };
    }
    case "project.application.maker.changed":
      return { ...state, isOwnerMade: event.payload.isOwner };
    case "project.application.consents.ended":
      return state;
    default:
      return event satisfies never;
  }
}

export function addApp(
  state: State,
  { projectId, name, clientId, config }: Pick<App, "projectId" | "name" | "clientId" | "config">,
): AppEvent[] {
  if (state !== undefined) throw failedPrecondition("APP_EXISTS", "an app with this id exists");
  return [
    appEvents.added({ projectId, name }),
    config.kind === "oidc"
      ? appEvents["config.oidc.added"]({ clientId, ...config.oidc })
      : appEvents["config.api.added"]({ clientId, ...config.api }),
  ];
}

/**
 * A patch that changes nothing is no event and no error.
 *
 * @throws FAILED_PRECONDITION APP_OF_OTHER_KIND for an API's configuration on an app that is none, and the reverse
 */
export function patchApp(
  state: State,
  { name, config }: { name?: string | undefined; config?: AppPatch | undefined },
): AppEvent[] {
  if (state === undefined) throw appNotFound();
  const renamed = name === undefined || name === state.name ? [] : [appEvents.changed({ name })];
  return [...renamed, ...changeConfig(state.config, config)];
}

function changeConfig(now: AppConfig, patch: AppPatch | undefined): AppEvent[] {
  if (patch === undefined) return [];
  if (now.kind === "oidc" && patch.kind === "oidc") {
    const changes = changedFields(now.oidc, patch.oidc);
    return isEmpty(changes) ? [] : [appEvents["config.oidc.changed"](changes)];
  }
  if (now.kind === "api" && patch.kind === "api") {
    const changes = changedFields(now.api, patch.api);
    return isEmpty(changes) ? [] : [appEvents["config.api.changed"](changes)];
  }
  throw failedPrecondition(
    "APP_OF_OTHER_KIND",
    `the app is of the kind ${now.kind}, which never changes: patch ${now.kind}`,
  );
}

export function deactivateApp(state: State): AppEvent[] {
  if (state === undefined) throw appNotFound();
  if (state.state === "inactive") {
    throw failedPrecondition("APP_INACTIVE", "the app is inactive already");
  }
  return [appEvents.deactivated({})];
}

export function activateApp(state: State): AppEvent[] {
  if (state === undefined) throw appNotFound();
  if (state.state === "active") {
    throw failedPrecondition(
      "APP_ACTIVE",
      "the app is active already; it counts as inactive while its project is",
    );
  }
  return [appEvents.reactivated({})];
}

export function removeApp(state: State): AppEvent[] {
  if (state === undefined) throw appNotFound();
  const { name, clientId } = state;
  return [appEvents.removed({ name, clientId })];
}

/** Whether the app proves with a secret that it is the one. */
export function hasSecret({ config }: Pick<App, "config">): boolean {
  const { authMethodType } = config.kind === "oidc" ? config.oidc : config.api;
  return authMethodType === "basic" || authMethodType === "post";
}

/**
 * Announces another secret; its digest goes into the secrets of the same unit.
 *
 * @throws FAILED_PRECONDITION APP_WITHOUT_SECRET
 */
export function changeSecret(state: State): AppEvent[] {
  if (state === undefined) throw appNotFound();
  if (!hasSecret(state)) {
    throw failedPrecondition(
      "APP_WITHOUT_SECRET",
      "the authentication method of the app has no secret: choose basic or post first",
    );
  }
  const { kind } = state.config;
  return [appEvents[`config.${kind}.secret.changed`]({})];
}

const mostKeys = 100;

export function addKey(state: State, key: AppKey): AppEvent[] {
  if (state === undefined) throw appNotFound();
  if (state.keyIds.includes(key.keyId)) {
    throw alreadyExists("APP_KEY_EXISTS", "a key with this id exists");
  }
  if (state.keyIds.length >= mostKeys) {
    throw resourceExhausted(
      "APP_KEYS_EXHAUSTED",
      `an app has at most ${mostKeys} keys: remove some`,
    );
  }
  return [appEvents[`${state.config.kind}.key.added`](key)];
}

export function removeKey(state: State, keyId: string): AppEvent[] {
  if (state === undefined) throw appNotFound();
  if (!state.keyIds.includes(keyId)) throw appKeyNotFound();
  return [appEvents[`${state.config.kind}.key.removed`]({ keyId })];
}

export const appNotFound = () => notFound("APP_NOT_FOUND", "the app does not exist");
const appKeyNotFound = () => notFound("APP_KEY_NOT_FOUND", "the app has no such key");
