import { failedPrecondition } from "../../../errors.ts";
import { aggregate } from "../../../eventstore/aggregate.ts";
import { type IdpIntentEvent, idpIntentEvents } from "./events.ts";

export type Phase = "started" | "succeeded" | "failed" | "consumed";

/** A login with a provider: which one, and how far it has come. */
export type Intent = { idpId: string; phase: Phase } | undefined;

export const idpIntent = aggregate(idpIntentEvents, undefined as Intent, evolve);

function evolve(_: Intent, { type, payload: { idpId } }: IdpIntentEvent): Intent {
  switch (type) {
    case "idpintent.started":
      return { idpId, phase: "started" };
    case "idpintent.succeeded":
    case "idpintent.saml.succeeded":
    case "idpintent.ldap.succeeded":
      return { idpId, phase: "succeeded" };
    case "idpintent.failed":
      return { idpId, phase: "failed" };
    case "idpintent.consumed":
      return { idpId, phase: "consumed" };
    default:
      return type satisfies never;
  }
}

export const start = (idpId: string): IdpIntentEvent[] => [idpIntentEvents.started({ idpId })];

const successes = { saml: "saml.succeeded", ldap: "ldap.succeeded" } as const;

export function succeed(state: Intent, type: string, userId: string): IdpIntentEvent[] {
  const { idpId } = requirePhase(state, "started");
  const name = type === "saml" || type === "ldap" ? successes[type] : "succeeded";
  return [idpIntentEvents[name]({ idpId, userId })];
}

export function fail(state: Intent, reason: string): IdpIntentEvent[] {
  const { idpId } = requirePhase(state, "started");
  return [idpIntentEvents.failed({ idpId, reason })];
}

/** @throws FAILED_PRECONDITION IDP_INTENT_SPENT */
export function consume(state: Intent, userId: string): IdpIntentEvent[] {
  const { idpId } = requirePhase(state, "succeeded");
  return [idpIntentEvents.consumed({ idpId, userId })];
}

function requirePhase(state: Intent, phase: Phase): NonNullable<Intent> {
  if (state?.phase === phase) return state;
  throw intentSpent();
}

export const intentSpent = () =>
  failedPrecondition(
    "IDP_INTENT_SPENT",
    "the login with the provider is over, was used or has failed: begin another one",
  );
