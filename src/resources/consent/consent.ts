import { createHash } from "node:crypto";
import { notFound } from "../../errors.ts";
import { aggregate } from "../../eventstore/aggregate.ts";
import { type ConsentEvent, consentEvents, type ConsentGranted } from "./events.ts";

type State = ConsentGranted | undefined;

/** What a person let one app have; the last consent counts. */
export const consent = aggregate(consentEvents, undefined as State, (_, event: ConsentEvent) =>
  event.type === "user.consent.granted" ? event.payload : undefined,
);

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
