import type { Module } from "../../projection/module.ts";
import { idpIntentEvents } from "./events.ts";
import { sweepIdpIntents } from "./sweep.ts";
import { idpIntents } from "./table.ts";

export {
  createIdpIntents,
  type IdpIntents,
  type IntentPorts,
  type IntentProof,
  type Said,
} from "./intents.ts";
export { createIdpLogins, type IdpLogins, type LinkedUser, type Success } from "./logins.ts";
export type { IntentRow } from "./table.ts";

/** Logins with identity providers, for the hosted login and for login pages of one's own (specification 11.4). */
export const idpIntentModule: Module = {
  events: [idpIntentEvents],
  projections: [],
  state: [idpIntents],
  sweeps: (deps) => [sweepIdpIntents(deps)],
};
