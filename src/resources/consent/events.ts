import { defineEvents, type EventOf, payload } from "../../eventstore/event.ts";

/**
 * What a person let an app do at the service's own APIs (J4): read their account; act for them in the
 * organization that both belong to; all that they may do; what the app is given; as before there was such a choice.
 */
export type ConsentedAccess =
  | { kind: "own" }
  | { kind: "organization"; organizationId: string }
  | { kind: "everything" }
  | {
      kind: "given";
      permissions: readonly string[];
      instance: boolean;
      organizationIds: readonly string[];
    }
  | { kind: "legacy" };

export type ConsentGranted = {
  userId: string;
  clientId: string;
  scope: string[];
  /** Absent where our own APIs were not asked for. */
  access?: ConsentedAccess;
};

/** Facts about what people let apps have. */
export const consentEvents = defineEvents(
  "user",
  {
    "consent.granted": payload<ConsentGranted>(),
    /** Taken back: everything that was issued for it ends. */
    "consent.revoked": payload<{ userId: string; clientId: string }>(),
  },
  "consent",
);

export type ConsentEvent = EventOf<typeof consentEvents>;
