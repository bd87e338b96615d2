import { createHash } from "node:crypto";
import { notFound } from "../../errors.ts";
import { aggregate } from "../../eventstore/aggregate.ts";
import { type ConsentEvent, consentEvents, type ConsentGranted } from "./events.ts";

export type Consent = ConsentGranted;

type State = Consent | undefined;

/** What a person let one app have; the last consent counts. */
export const consent = aggregate(consentEvents, undefined as State, evolve);

function evolve(_: State, event: ConsentEvent): State {
  switch (event.type) {
    case "user.consent.granted":
      return event.payload;
    case "user.consent.revoked":
      return undefined;
    default:
      return event satisfies never;
  }
}

/** There is one consent of a person to an app. */
export const consentId = (userId: string, clientId: string): string =>
  createHash("sha256").update(`${userId}\n${clientId}`).digest("base64url");

/** @throws NOT_FOUND CONSENT_NOT_FOUND */
export function revokeConsent(state: State): ConsentEvent[] {
  if (state === undefined) throw consentNotFound();
  const { userId, clientId } = state;
  return [consentEvents["consent.revoked"]({ userId, clientId })];
}

export const consentNotFound = () =>
  notFound("CONSENT_NOT_FOUND", "the consent does not exist, or was taken back");
