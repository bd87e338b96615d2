import { accountsPage } from "../pages/accounts.ts";
import { paths } from "../paths.ts";
import { type Route, type RouteParts, valueOf } from "../route.ts";
import { firstFactorAt } from "../../resources/session/index.ts";
import type { LoginSession } from "../sessions.ts";
import type { PageContext } from "../page-context.ts";

/** Chooses among the sessions of this browser, and ends single ones. */
export function accountsRoute(parts: RouteParts): Route {
  const { advance, users, sessions, policyOf, appOf, now } = parts;

  /** Whom the request means, of those who logged in here. */
  async function sessionsIn(context: PageContext): Promise<LoginSession[]> {
    const { at, agent, tenant } = context;
    const request = context.hasFlow ? context.flow.data.request : undefined;
    const all = await Promise.all(agent.sessionIds.map((id) => sessions.find(at.instanceId, id)));
    return all
      .filter((session) => session !== undefined)
      .filter(({ user }) => (request?.hintedUserId ?? user.id) === user.id)
      .filter(
        ({ user }) =>
          request?.organization === undefined || user.organizationId === tenant.organizationId,
      );
  }

  return {
    path: paths.accounts,
    async get(context) {
      const found = await sessionsIn(context);
      if (found.length === 0) {
        if (!context.hasFlow) await context.save({});
        return context.go(paths.loginName);
      }
      if (!context.hasFlow) await context.save({ begin: "select_account" });
      const { request } = context.flow.data;
      const app = request && (await appOf(context.at.instanceId, request.clientId));
      const accounts = await Promise.all(
        found.map(async ({ id, user, proofs }) => {
          const { passwordCheckLifetimeMs } = await policyOf({
            instanceId: context.at.instanceId,
            organizationId: user.organizationId,
          });
          const proven = firstFactorAt(proofs)?.getTime() ?? 0;
          const isSignedIn = now().getTime() - proven <= passwordCheckLifetimeMs;
          return { id, isSignedIn, ...(await users.account(context.at.instanceId, user.id)) };
        }),
      );
      const view = { accounts, ...(app === undefined ? {} : { app: app.name }) };
      return context.show((page) => accountsPage(page, view), { self: paths.accounts });
    },

    async post(context) {
      const found = await sessionsIn(context);
      const remove = valueOf(context, "remove");
      if (remove !== "") {
        const session = found.find(({ id }) => id === remove);
        if (session !== undefined) await parts.browsers.endSessions(context.at, [session.id]);
        return context.go(paths.accounts);
      }
      const chosen = found.find(({ id }) => id === valueOf(context, "session"));
      if (chosen === undefined) return context.go(paths.accounts);
      const { loginName: _, userId: __, ...rest } = context.flow.data;
      await context.save({ ...rest, sessionId: chosen.id, isChosen: true });
      return advance.next(context);
    },
  };
}
