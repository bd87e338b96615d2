import { alreadyExists, failedPrecondition, notFound, resourceExhausted } from "../../errors.ts";
import { changedFields, isEmpty } from "../../eventstore/aggregate.ts";
import { type App, type AppEvent, appEvents, appResource, type app } from "./application.ts";
import type { AppConfig, AppKey, AppPatch } from "./config.ts";

type State = typeof app.initial;

export function addApp(
  state: State,
  { projectId, name, clientId, config }: Pick<App, "projectId" | "name" | "clientId" | "config">,
): AppEvent[] {
  return [
    ...appResource.add(state, { projectId, name, clientId: "" }),
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
  const renamed = appResource.patch(state, { name });
  return [...renamed, ...changeConfig(appResource.require(state).config, config)];
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

export function activateApp(state: State): AppEvent[] {
  if (appResource.require(state).state === "active") {
    throw failedPrecondition(
      "APP_ACTIVE",
      "the app is active already; it counts as inactive while its project is",
    );
  }
  return [appEvents.reactivated({})];
}

export function removeApp(state: State): AppEvent[] {
  const { name, clientId } = appResource.require(state);
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
  const now = appResource.require(state);
  if (!hasSecret(now)) {
    throw failedPrecondition(
      "APP_WITHOUT_SECRET",
      "the authentication method of the app has no secret: choose basic or post first",
    );
  }
  const { kind } = now.config;
  return [appEvents[`config.${kind}.secret.changed`]({})];
}

const mostKeys = 100;

export function addKey(state: State, key: AppKey): AppEvent[] {
  const { keyIds, config } = appResource.require(state);
  if (keyIds.includes(key.keyId)) {
    throw alreadyExists("APP_KEY_EXISTS", "a key with this id exists");
  }
  if (keyIds.length >= mostKeys) {
    throw resourceExhausted(
      "APP_KEYS_EXHAUSTED",
      `an app has at most ${mostKeys} keys: remove some`,
    );
  }
  return [appEvents[`${config.kind}.key.added`](key)];
}

export function removeKey(state: State, keyId: string): AppEvent[] {
  const { keyIds, config } = appResource.require(state);
  if (!keyIds.includes(keyId)) throw appKeyNotFound();
  return [appEvents[`${config.kind}.key.removed`]({ keyId })];
}

const appKeyNotFound = () => notFound("APP_KEY_NOT_FOUND", "the app has no such key");
