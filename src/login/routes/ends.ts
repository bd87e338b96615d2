import { leave } from "../advance.ts";
import { askedFor, hostOf } from "../asked.ts";
import { consentPage } from "../pages/consent.ts";
import { developmentMailPage } from "../pages/development-mail.ts";
import { loggedOutPage } from "../pages/logged-out.ts";
import { logoutPage } from "../pages/logout.ts";
import { signedInPage } from "../pages/signed-in.ts";
import { afterLogout } from "../../oidc/core/end-session.ts";
import { paths } from "../paths.ts";
import { requireSession, type Route, type RouteParts, valueOf } from "../route.ts";
import { writing } from "../writing.ts";
import { toBrowserSession } from "../sessions.ts";
import { PageRefused, type Visit } from "../visit.ts";

/** Where flows end: consent, signed in, logged out; and the mail of developers. */
export function endRoutes(parts: RouteParts): Route[] {
  const { advance, people, sessions, consents, browsers, appOf, developmentMail } = parts;

  async function accountsIn({ agent, at }: Visit) {
    const all = await Promise.all(agent.sessionIds.map((id) => sessions.find(at.instanceId, id)));
    const living = all.filter((session) => session !== undefined).filter(toBrowserSession);
    const accounts = await Promise.all(
      living.map(({ user }) => people.account(at.instanceId, user.id)),
    );
    return { living, accounts };
  }

  /** Consent is the last step: nobody gives it who has not proven everything else (D56). */
  const isDue = async (visit: Visit) => (await advance.stepOf(visit)) === "consent";

  return [
    {
      path: paths.consent,
      async get(visit) {
        const { user } = await requireSession(parts, visit);
        const { request } = visit.flow.data;
        if (request === undefined || !(await isDue(visit))) return advance.next(visit);
        const app = await appOf(visit.at.instanceId, request.clientId);
        if (app === undefined) throw new PageRefused("CLIENT_UNKNOWN", 400);
        const account = await people.account(visit.at.instanceId, user.id);
        const asked = await askedFor(parts, visit.at.instanceId, user, { app, ...request });
        const view = { ...asked, account, host: hostOf(request.redirectUri) };
        return visit.show((page) => consentPage(page, view), { self: paths.consent });
      },
      async post(visit) {
        const session = await requireSession(parts, visit);
        const { user } = session;
        const { request } = visit.flow.data;
        if (request === undefined || !(await isDue(visit))) return advance.next(visit);
        if (valueOf(visit, "consent") !== "allow") return advance.deny(visit, session);
        const app = await appOf(visit.at.instanceId, request.clientId);
        if (app === undefined) throw new PageRefused("CLIENT_UNKNOWN", 400);
        const given = { scope: request.scope, choice: valueOf(visit, "access") };
        await consents.give(writing(visit, user.id), user, app, given);
        await visit.save({ ...visit.flow.data, hasConsented: true });
        return advance.next(visit);
      },
    },
    {
      path: paths.signedIn,
      async get(visit) {
        const { accounts } = await accountsIn(visit);
        const account = accounts.at(-1);
        if (account === undefined) return visit.go(paths.begin);
        return visit.show((page) => signedInPage(page, { account }), { self: paths.signedIn });
      },
    },
    {
      path: paths.logout,
      async get(visit) {
        const { accounts } = await accountsIn(visit);
        if (accounts.length === 0) return visit.go(paths.loggedOut);
        return visit.show((page) => logoutPage(page, { accounts }), { self: paths.logout });
      },
      async post(visit) {
        const { living } = await accountsIn(visit);
        await browsers.endSessions(
          visit.at,
          living.map(({ id }) => id),
        );
        if (visit.agent.sessionIds.length > 0) await visit.renew([]);
        const logout = visit.hasFlow ? visit.flow.data.logout : undefined;
        const location = logout && afterLogout(logout);
        return location === undefined ? visit.go(paths.loggedOut) : leave(visit.go(""), location);
      },
    },
    {
      path: paths.loggedOut,
      get: (visit) => visit.show((page) => loggedOutPage(page, {}), { self: paths.loggedOut }),
    },
    {
      path: paths.developmentMail,
      async get(visit) {
        if (developmentMail === undefined) throw new PageRefused("NOT_FOUND", 404);
        const messages = developmentMail.of(visit.at.instanceId);
        return visit.show((page) => developmentMailPage(page, { messages }), {
          self: paths.developmentMail,
        });
      },
    },
  ];
}
