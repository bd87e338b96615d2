import { sourceOf } from "../authz/source.ts";
import type { Strength } from "../authz/step-up.ts";
import { leave } from "../login/advance.ts";
import type { FlowData } from "../login/flow.ts";
import type { NoticeCode } from "../login/page.ts";
import type { PageContext } from "../login/page-context.ts";
import { paths } from "../login/paths.ts";
import { returnedName } from "../login/returned.ts";
import type { RouteParts } from "../login/route.ts";
import type { LoginSession } from "../login/sessions.ts";
import type { LoginAnswer } from "../login/web.ts";

/** Leads to the login and back to the page, with what was typed there but for secrets. */
async function through(
  { flows, deps }: RouteParts,
  context: PageContext,
  path: string,
  flow: FlowData,
  notice?: NoticeCode,
): Promise<LoginAnswer> {
  const { at, agent } = context;
  deps.budgets.spend("flows", sourceOf(at.peer));
  const query = {
    ...(context.hasFlow ? { flow: context.flow.address } : {}),
    ...(context.form.size === 0 ? {} : { [returnedName]: await context.sealed({ notice }, path) }),
  };
  const search = new URLSearchParams(query);
  const returnTo = search.size === 0 ? path : `${path}?${search}`;
  const { address } = await flows.begin(at.instanceId, agent.id, { ...flow, returnTo });
  return leave(context.go(""), `${paths.begin}?${new URLSearchParams({ flow: address })}`);
}

/** Has somebody sign in, or finish what their session lacks. */
export const signInFor = (
  parts: RouteParts,
  context: PageContext,
  path: string,
  session: LoginSession | undefined,
): Promise<LoginAnswer> =>
  through(parts, context, path, session === undefined ? {} : { sessionId: session.id });

/** Has who is signed in prove themselves anew, by a factor of the strength that their change needs (L2). */
export function proveAnew(
  parts: RouteParts,
  context: PageContext,
  { path, session, needed }: { path: string; session: LoginSession; needed: Strength },
): Promise<LoginAnswer> {
  const since = parts.now().getTime();
  const how =
    needed === "provider" || needed === "email"
      ? { freshSince: since }
      : { stepUp: { strength: needed, since } };
  return through(parts, context, path, { sessionId: session.id, ...how }, "STEP_UP_DONE");
}
