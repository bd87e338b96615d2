import type { InnerCaller } from "../authz/service.ts";
import { sourceOf } from "../authz/source.ts";
import type { PageContext } from "./page-context.ts";

/** The service calls itself as a user, who may do to themselves what users may: a proof or a code is asked of them. */
export const asUser = (
  { agent, presence, at: { instanceId, issuer, requestId, peer } }: PageContext,
  user: { id: string; organizationId: string },
): InnerCaller => ({
  instanceId,
  issuer,
  requestId,
  source: sourceOf(peer),
  presence: { ...presence, personId: user.id },
  browser: agent.id,
  as: { userId: user.id, organizationId: user.organizationId },
});
