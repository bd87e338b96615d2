import { IdentityProviderService } from "#gen/idsvc/resources/idp/v3alpha/identity_provider_service_pb.ts";
import type { Held } from "../../authz/holds.ts";
import { service } from "../../authz/service.ts";
import type { Deps, Module } from "../../projection/module.ts";
import type { Database } from "../../storage/database.ts";
import type { LinkHolders } from "./answers.ts";
import { instanceIdpEvents, organizationIdpEvents } from "./events.ts";
import { idpAuthorize, idpHandlers } from "./handlers.ts";
import { idpIntentEvents } from "./intent/events.ts";
import { sweepIdpIntents } from "./intent/sweep.ts";
import { idpIntents } from "./intent/table.ts";
import type { Affected } from "./preview.ts";
import { idpPolicies, idpPolicyProjection, idpProjection } from "./projection.ts";
import { idpTypes, providerTypes } from "./provider-types.ts";
import { removeContentsOfIdps } from "./remove-idp.ts";

export { idpAdder } from "./add-idp.ts";
export { configOf } from "./config.ts";
export { idp } from "./idp.ts";
export { newOptions, toOptions } from "./options.ts";
export { idps } from "./projection.ts";
export { idpReader, type IdpReader } from "./reader.ts";
export { createIdpIntents, type IntentPorts } from "./intent/intents.ts";
export { createIdpLogins } from "./intent/logins.ts";

/**
 * Identity providers, reusable down the tree of tenants (specification 2.4 and 4.1.3, E1 to E5), and log-ins with them, for the
 * hosted login and for login pages of one's own (specification 11.4).
 *
 * @param affectedOf who feels it when a provider changes its state, which other slices know
 * @param holdersOf what becomes of the links of users when somebody else answers for a provider
 */
export const idpModule = (
  affectedOf: (db: Database) => Affected,
  holdersOf: (deps: Deps) => LinkHolders,
): Module => ({
  events: [instanceIdpEvents, organizationIdpEvents, idpPolicies.events, idpIntentEvents],
  projections: [idpProjection, idpPolicyProjection],
  state: [idpIntents],
  services: (deps) => [
    service(
      IdentityProviderService,
      idpHandlers(deps, affectedOf(deps.db), holdersOf(deps)),
      idpAuthorize(deps),
      // Whom a change holds is judged where it is seen who answers: links are suspended, and nothing is refused.
      Object.fromEntries(
        idpTypes.map((type) => [`patch${providerTypes[type].rpc}IDP`, (): Held[] => []]),
      ),
    ),
  ],
  sweeps: (deps) => [sweepIdpIntents(deps)],
  contents: removeContentsOfIdps,
});
