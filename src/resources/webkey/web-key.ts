import type { PublicJwk, SigningKeyConfig } from "../../crypto/signing-key.ts";
import { failedPrecondition } from "../../errors.ts";
import { on } from "../../projection/projection.ts";
import { deleteRows } from "../../storage/row-change.ts";
import { instanceEvents } from "../instance/index.ts";
import type { Nothing } from "../object/declared.ts";
import { field } from "../object/fields.ts";
import { defineResource, fact } from "../object/resource.ts";

export const webKeyStates = ["initial", "active", "inactive"] as const;
export type WebKeyState = (typeof webKeyStates)[number];

/**
 * A key that the instance signs with; its id is the `kid`. The row changes when the key comes into another state, and at no
 * other time. Keys go with their instance, so that nothing rotates them any more.
 */
export const webKeys = defineResource({
  name: "web_key",
  events: "web_key",
  verbs: { added: "added", removed: "removed" },
  ownTexts: true,
  table: "web_keys",
  owner: "instance",
  states: false,
  fields: {
    config: field.json<SigningKeyConfig>()({}),
    /** Its public half; the private one lies in the secrets under the id of the key. */
    publicKey: field.json<PublicJwk>()({}),
    state: field.text({ absent: "initial" }),
  },
  kept: [],
  facts: {
    activated: fact<Nothing>({ sets: () => ({ state: "active" }) }),
    deactivated: fact<Nothing>({ sets: () => ({ state: "inactive" }) }),
  },
  also: (rows) => [
    on(instanceEvents, {
      "instance.removed": ({ instanceId }) => [deleteRows(rows, { instanceId })],
    }),
  ],
  indexes: [{ columns: ["instanceId", "state"] }],
});

type State = typeof webKeys.aggregate.initial;

const mostWebKeys = 100;

export function requireRoom(count: number): void {
  if (count < mostWebKeys) return;
  throw failedPrecondition(
    "WEB_KEYS_TOO_MANY",
    `an instance has ${mostWebKeys} web keys at most: remove one first`,
  );
}

/** A key that is published and signs nothing yet. `count` is how many keys the instance has. */
export function addWebKey(
  { config, publicKey }: { config: SigningKeyConfig; publicKey: PublicJwk },
  count: number,
) {
  requireRoom(count);
  return webKeys.add(undefined, { config, publicKey, state: "initial" });
}

/** Also a key that was active before may sign again. */
export function activateWebKey(state: State) {
  if (webKeys.require(state).state === "active") {
    throw failedPrecondition("WEB_KEY_ACTIVE_ALREADY", "the web key is active already");
  }
  return [webKeys.events.activated({})];
}

/** What becomes of the key that signed until another was activated. */
export const deactivateWebKey = (state: State) =>
  state?.state === "active" ? [webKeys.events.deactivated({})] : [];

/** From here on what it has signed is not valid any more. */
export function removeWebKey(state: State) {
  if (webKeys.require(state).state === "active") {
    throw failedPrecondition(
      "WEB_KEY_ACTIVE",
      "the web key signs for the instance: activate another one first",
    );
  }
  return webKeys.remove(state);
}
