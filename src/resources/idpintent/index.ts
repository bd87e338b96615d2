import type { Module } from "../../projection/module.ts";
import { idpIntentEvents } from "./events.ts";
import { sweepIdpIntents } from "./sweep.ts";
import { idpIntents } from "./table.ts";

export { type IdpIntentHandlers, idpIntentHandlers } from "./handlers.ts";
export {
  createIdpIntents,
  type IdpIntents,
  idpInactive,
  type IntentAt,
  type IntentProof,
  type Said,
  type Success,
} from "./intents.ts";
export type { IntentRow } from "./table.ts";
export { toProviderConfig } from "./provider.ts";

/** Logins with identity providers, for the hosted login and for login pages of one's own (specification 11.4). */
export const idpIntentModule: Module = {
  events: [idpIntentEvents],
  projections: [],
  state: [idpIntents],
  sweeps: (deps) => [sweepIdpIntents(deps)],
};
