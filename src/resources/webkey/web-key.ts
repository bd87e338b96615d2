import { failedPrecondition, notFound } from "../../errors.ts";
import { aggregate } from "../../eventstore/aggregate.ts";
import { type AddedWebKey, type WebKeyEvent, webKeyEvents } from "./events.ts";

export const webKeyStates = ["initial", "active", "inactive"] as const;
export type WebKeyState = (typeof webKeyStates)[number];

/** Undefined before a key is made and after it is removed. */
export type WebKey = (AddedWebKey & { state: WebKeyState }) | undefined;

export const webKey = aggregate(
  webKeyEvents,
  undefined as WebKey,
  (state: WebKey, event: WebKeyEvent): WebKey => {
    switch (event.type) {
      case "web_key.added":
        return { ...event.payload, state: "initial" };
      case "web_key.activated":
        return state && { ...state, state: "active" };
      case "web_key.deactivated":
        return state && { ...state, state: "inactive" };
      case "web_key.removed":
        return undefined;
    }
  },
);

const mostWebKeys = 100;

export function requireRoom(count: number): void {
  if (count < mostWebKeys) return;
  throw failedPrecondition(
    "WEB_KEYS_TOO_MANY",
    `an instance has ${mostWebKeys} web keys at most: remove one first`,
  );
}

/** A key that is published and signs nothing yet. `count` is how many keys the instance has. */
export function addWebKey({ config, publicKey }: AddedWebKey, count: number): WebKeyEvent[] {
  requireRoom(count);
  return [webKeyEvents.added({ config, publicKey })];
}

/** Also a key that was active before may sign again. */
export function activateWebKey(state: WebKey): WebKeyEvent[] {
  if (state === undefined) throw webKeyNotFound();
  if (state.state === "active") {
    throw failedPrecondition("WEB_KEY_ACTIVE_ALREADY", "the web key is active already");
  }
  return [webKeyEvents.activated({})];
}

/** What becomes of the key that signed until another was activated. */
export const deactivateWebKey = (state: WebKey): WebKeyEvent[] =>
  state?.state === "active" ? [webKeyEvents.deactivated({})] : [];

/** From here on what it has signed is not valid any more. */
export function removeWebKey(state: WebKey): WebKeyEvent[] {
  if (state === undefined) throw webKeyNotFound();
  if (state.state === "active") {
    throw failedPrecondition(
      "WEB_KEY_ACTIVE",
      "the web key signs for the instance: activate another one first",
    );
  }
  return [webKeyEvents.removed({})];
}

export const webKeyNotFound = () => notFound("WEB_KEY_NOT_FOUND", "the web key does not exist");
