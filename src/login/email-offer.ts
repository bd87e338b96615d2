import type { PageContext } from "./page-context.ts";
import type { RouteParts } from "./route.ts";

/**
 * Whether a code by mail would bring the log-in on: the settings allow it, somebody is named, and their mailbox is not what they have
 * proven already.
 */
export async function isEmailOffered(
  { advance, policyOf, now }: Pick<RouteParts, "advance" | "policyOf" | "now">,
  context: PageContext,
): Promise<boolean> {
  const { firstFactors, passwordCheckLifetimeMs: lifeMs } = await policyOf(context.tenant);
  if (!firstFactors.includes("email")) return false;
  const { data } = context.flow;
  const session = await advance.sessionOf(context);
  if (session === undefined) return data.loginName !== undefined;
  if ((await advance.dueOf(context)) === "password") return false;
  const provenAt = session.proofs.email?.getTime() ?? 0;
  return now().getTime() - provenAt > lifeMs || provenAt < (data.freshSince ?? 0);
}
