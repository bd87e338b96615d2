import { whenKnown } from "../../awaitable.ts";
import type { Deps } from "../../projection/module.ts";
import { createConsents } from "../../resources/consent/index.ts";
import type { Consents } from "../core/api-ports.ts";

/** What people let clients do at the service's own APIs. */
export function consentStore(
  deps: Pick<Deps, "db" | "events" | "memberships" | "newId">,
): Consents {
  const consents = createConsents(deps);
  return {
    apiPower: ({ instanceId }, user, client) =>
      whenKnown(consents.powerOf(instanceId, user, client), (power) =>
        power?.kind === "given" ? { trusted: false, ...power } : power,
      ),
  };
}
