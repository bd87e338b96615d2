import { aggregate } from "../../eventstore/aggregate.ts";
import { defineEvents, type EventOf, payload } from "../../eventstore/event.ts";
import type { ApiPower, AudienceRef } from "../core/api-ports.ts";
import type { Actor, EndReason, Parent } from "../core/ports.ts";

/** What a user allowed a client. */
export type OidcSessionAdded = {
  clientId: string;
  userId: string;
  sessionId: string;
  scope: readonly string[];
  /** As tokens say it. */
  audience: readonly string[];
  /** What it means; events of earlier releases have the strings alone. */
  references?: readonly AudienceRef[];
  /** What it may do at the service's own APIs, where those are in the audience. */
  access?: ApiPower;
  authTime?: string;
  amr: readonly string[];
  acr?: string;
  actor?: Actor;
  parents: readonly Parent[];
  /** From when nothing of it can live. */
  expirationDate: string;
  /** Of whom the app wants to be told when the session ends. */
  logoutIssuer?: string;
  /** The identity provider that the user logged in with, where they did. */
  idpId?: string;
};

export type OidcSessionEnding = EndReason | "expired";

/** `claims` is JSON text of what was asked of single claims: it may tell of the person. */
type Asked = { claims?: string };

export const oidcSessionEvents = defineEvents("oidc_session", {
  added: payload<OidcSessionAdded>(),
  "claims.requested": payload<Required<Asked> & { userId: string }>({
    personal: ["claims"],
    subject: ({ userId }) => userId,
  }),
  terminated: payload<{ reason: OidcSessionEnding }>(),
});

export type OidcSessionEvent = EventOf<typeof oidcSessionEvents>;

/** Whether an OIDC session was opened and by whom, and whether it was ended by itself. */
export type OidcSessionState = { isOpen: boolean };

export const oidcSession = aggregate<OidcSessionEvent, OidcSessionState>(
  oidcSessionEvents,
  { isOpen: false },
  (state, { type }) => {
    if (type === "oidc_session.added") return { isOpen: true };
    return type === "oidc_session.terminated" ? { isOpen: false } : state;
  },
);

type Issued = { userId: string; clientId: string; oidcSessionId: string };
type Added = Issued & { expirationDate: string };

/** Facts about access tokens. Each is the first or the last of its token: nothing is loaded to write it. */
export const tokenEvents = defineEvents(
  "user",
  {
    "token.added": payload<Added & { scope: readonly string[] }>(),
    "token.removed": payload<Issued>(),
    /** `actor` is the user who acts for `userId` now. */
    impersonated: payload<Issued & { actor: Actor }>(),
  },
  "token",
);

/** Facts about refresh tokens; the family of a token is its OIDC session. */
export const refreshTokenEvents = defineEvents(
  "user",
  {
    "human.refresh.token.added": payload<Added>(),
    "human.refresh.token.renewed": payload<Added>(),
    "human.refresh.token.removed": payload<Issued>(),
  },
  "refresh_token",
);

type Device = { clientId: string };

export const deviceEvents = defineEvents(
  "device.authorization",
  {
    added: payload<Device & { scope: readonly string[] }>(),
    approved: payload<Device & { userId: string }>(),
    canceled: payload<Device>(),
    done: payload<Device & { userId: string; oidcSessionId: string }>(),
  },
  "device_auth",
);

type Nothing = Record<string, never>;
const trail = <E extends { type: string; payload: unknown }>(
  events: Parameters<typeof aggregate<E, Nothing>>[0],
) => aggregate<E, Nothing>(events, {}, (state) => state);

export const accessToken = trail<EventOf<typeof tokenEvents>>(tokenEvents);
export const refreshToken = trail<EventOf<typeof refreshTokenEvents>>(refreshTokenEvents);
export const deviceAuthorization = trail<EventOf<typeof deviceEvents>>(deviceEvents);
