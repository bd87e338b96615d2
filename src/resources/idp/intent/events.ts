import { defineEvents, type EventOf, payload } from "../../../eventstore/event.ts";

const succeeded = () => payload<{ idpId: string; userId: string }>();

/**
 * Facts about a login with an identity provider. Who logged in there stands in none of them; `userId` is the user who has
 * the account linked, or empty.
 */
export const idpIntentEvents = defineEvents("idpintent", {
  started: payload<{ idpId: string }>(),
  succeeded: succeeded(),
  "saml.succeeded": succeeded(),
  "ldap.succeeded": succeeded(),
  /** `reason` is that of the refusal. */
  failed: payload<{ idpId: string; reason: string }>(),
  /** It let somebody in, or linked an account: it counts no more. */
  consumed: payload<{ idpId: string; userId: string }>(),
});

export type IdpIntentEvent = EventOf<typeof idpIntentEvents>;
