import { accountsPage } from "../pages/accounts.ts";
import { paths } from "../paths.ts";
import { type Route, type RouteParts, valueOf } from "../route.ts";
import { firstFactorAt } from "../../resources/session/index.ts";
import type { LoginSession } from "../sessions.ts";
import { PageRefused, type Visit } from "../visit.ts";

/** Chooses among the sessions of this browser, and ends single ones. */
export function accountsRoute(parts: RouteParts): Route {
  const { advance, people, sessions, policyOf, appOf, now } = parts;

  /** Whom the request means, of those who logged in here. */
  async function sessionsIn(visit: Visit): Promise<LoginSession[]> {
    const { at, agent, place } = visit;
    const request = visit.hasFlow ? visit.flow.data.request : undefined;
    const all = await Promise.all(agent.sessionIds.map((id) => sessions.find(at.instanceId, id)));
    return all
      .filter((session) => session !== undefined)
      .filter(({ user }) => (request?.hintedUserId ?? user.id) === user.id)
      .filter(
        ({ user }) =>
          request?.organization === undefined || user.organizationId === place.organizationId,
      );
  }

  return {
    path: paths.accounts,
    async get(visit) {
      const found = await sessionsIn(visit);
      if (found.length === 0) {
        if (!visit.hasFlow) await visit.save({});
        return visit.go(paths.loginName);
      }
      if (!visit.hasFlow) await visit.save({ begin: "select_account" });
      const { request } = visit.flow.data;
      const app = request && (await appOf(visit.at.instanceId, request.clientId));
      const accounts = await Promise.all(
        found.map(async ({ id, user, proofs }) => {
          const { passwordCheckLifetimeMs } = await policyOf({
            instanceId: visit.at.instanceId,
            organizationId: user.organizationId,
          });
          const proven = firstFactorAt(proofs)?.getTime() ?? 0;
          const isSignedIn = now().getTime() - proven <= passwordCheckLifetimeMs;
          return { id, isSignedIn, ...(await people.account(visit.at.instanceId, user.id)) };
        }),
      );
      const view = { accounts, ...(app === undefined ? {} : { app: app.name }) };
      return visit.show((page) => accountsPage(page, view), { self: paths.accounts });
    },

    async post(visit) {
      const found = await sessionsIn(visit);
      const remove = valueOf(visit, "remove");
      if (remove !== "") {
        const session = found.find(({ id }) => id === remove);
        if (session === undefined) throw new PageRefused("FLOW_NOT_FOUND", 400);
        await parts.browsers.endSessions(visit.at, [session.id]);
        return visit.go(paths.accounts);
      }
      const chosen = found.find(({ id }) => id === valueOf(visit, "session"));
      if (chosen === undefined) return visit.go(paths.accounts);
      const { loginName: _, userId: __, ...rest } = visit.flow.data;
      await visit.save({ ...rest, sessionId: chosen.id, isChosen: true });
      return advance.next(visit);
    },
  };
}
