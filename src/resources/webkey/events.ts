import type { PublicJwk, SigningKeyConfig } from "../../crypto/signing-key.ts";
import { defineEvents, type EventOf, payload } from "../../eventstore/event.ts";

export type AddedWebKey = {
  config: SigningKeyConfig;
  /** Its public half; the private one lies in the secrets under the id of the key. */
  publicKey: PublicJwk;
};

/** Facts about one key of an instance. The id of the key is the `kid`. */
export const webKeyEvents = defineEvents("web_key", {
  added: payload<AddedWebKey>(),
  activated: payload<Record<string, never>>(),
  deactivated: payload<Record<string, never>>(),
  removed: payload<Record<string, never>>(),
});

export type WebKeyEvent = EventOf<typeof webKeyEvents>;
