import { missingProof, type Progress, type TrustedBrowsers } from "../resources/session/index.ts";
import type { TrustView } from "./parts/trust.ts";
import { type RouteParts, valueOf } from "./route.ts";
import type { LoginSession } from "./sessions.ts";
import type { PageContext } from "./page-context.ts";
import { writing } from "./writing.ts";

/** What the page of a second factor offers: nothing where the settings let nobody trust a browser. */
export async function trustOffered(
  { advance }: Pick<RouteParts, "advance">,
  context: PageContext,
): Promise<TrustView | undefined> {
  const { policy } = await advance.progressOf(context);
  const { trustedBrowserLifetimeMs: lifetimeMs } = policy;
  const isChecked = context.form.get("trust") === "true";
  return lifetimeMs === 0 ? undefined : { lifetimeMs, isChecked };
}

/** The person trusts this browser, if they said so: they have just proven a second factor in it. */
export async function trustIfSaid(
  { advance, trustedBrowsers }: Pick<RouteParts, "advance" | "trustedBrowsers">,
  context: PageContext,
  userId: string,
): Promise<void> {
  if (valueOf(context, "trust") !== "true") return;
  const { policy } = await advance.progressOf(context);
  const by = { ...writing(context, userId), browser: context.agent.id };
  await trustedBrowsers.trust(by, userId, policy.trustedBrowserLifetimeMs);
}

/** Spares the session the second factor, where that is all that is missing and its user trusts this browser; whether it did. */
export async function spareIfTrusted(
  trustedBrowsers: Pick<TrustedBrowsers, "spare">,
  context: PageContext,
  { id: sessionId, user }: LoginSession,
  progress: Progress,
): Promise<boolean> {
  const { trustedBrowserLifetimeMs: lifetimeMs } = progress.policy;
  if (lifetimeMs === 0 || missingProof(progress) !== "secondFactor") return false;
  const by = { ...writing(context, "system:login"), browser: context.agent.id };
  return trustedBrowsers.spare(by, { sessionId, userId: user.id, lifetimeMs });
}
