import { leave } from "../advance.ts";
import { askedFor, hostOf } from "../asked.ts";
import { consentPage } from "../pages/consent.ts";
import { developmentMailPage } from "../pages/development-mail.ts";
import { loggedOutPage } from "../pages/logged-out.ts";
import { logoutPage } from "../pages/logout.ts";
import { afterLogout, forgetSite } from "../../oidc/core/end-session.ts";
import { paths } from "../paths.ts";
import { noticeOf, requireSession, type Route, type RouteParts, valueOf } from "../route.ts";
import { writing } from "../writing.ts";
import { signedInHere } from "../sessions.ts";
import { PageRefused, type PageContext } from "../page-context.ts";

/** Where flows end: consent, signed in, logged out; and the mail of developers. */
export function endRoutes(parts: RouteParts): Route[] {
  const { advance, users, sessions, consents, browsers, appOf, developmentMail } = parts;

  async function accountsIn(context: PageContext) {
    const living = await signedInHere(sessions, context);
    const accounts = await Promise.all(
      living.map(({ user }) => users.account(context.at.instanceId, user.id)),
    );
    return { living, accounts };
  }

  /** Consent is the last step: nobody gives it who has not proven everything else (D56). */
  const isDue = async (context: PageContext) => (await advance.stepOf(context)) === "consent";

  return [
    {
      path: paths.consent,
      async get(context) {
        const { user } = await requireSession(parts, context);
        const { request } = context.flow.data;
        if (request === undefined || !(await isDue(context))) return advance.next(context);
        const app = await appOf(context.at.instanceId, request.clientId);
        if (app === undefined) throw new PageRefused("CLIENT_UNKNOWN", 400);
        const account = await users.account(context.at.instanceId, user.id);
        const asked = await askedFor(parts, context.at.instanceId, user, { app, ...request });
        const view = { ...asked, account, host: hostOf(request.redirectUri) };
        return context.show((page) => consentPage(page, view), { self: paths.consent });
      },
      async post(context) {
        const session = await requireSession(parts, context);
        const { user } = session;
        const { request } = context.flow.data;
        if (request === undefined || !(await isDue(context))) return advance.next(context);
        if (valueOf(context, "consent") !== "allow") return advance.deny(context, session);
        const app = await appOf(context.at.instanceId, request.clientId);
        if (app === undefined) throw new PageRefused("CLIENT_UNKNOWN", 400);
        const given = { scope: request.scope, choice: valueOf(context, "access") };
        await consents.give(writing(context, user.id), user, app, given);
        await context.save({ ...context.flow.data, hasConsented: true });
        return advance.next(context);
      },
    },
    {
      path: paths.logout,
      async get(context) {
        const { accounts } = await accountsIn(context);
        if (accounts.length === 0) return context.go(paths.loggedOut);
        return context.show((page) => logoutPage(page, { accounts }), { self: paths.logout });
      },
      async post(context) {
        const { living } = await accountsIn(context);
        await browsers.endSessions(
          context.at,
          living.map(({ id }) => id),
        );
        if (context.agent.sessionIds.length > 0) await context.renew([]);
        const logout = context.hasFlow ? context.flow.data.logout : undefined;
        const location = logout && afterLogout(logout);
        const answer =
          location === undefined ? context.go(paths.loggedOut) : leave(context.go(""), location);
        return { ...answer, headers: { ...answer.headers, ...forgetSite } };
      },
    },
    {
      path: paths.loggedOut,
      get: (context) =>
        context.show((page) => loggedOutPage(page, {}), {
          ...noticeOf(context),
          self: paths.loggedOut,
        }),
    },
    {
      path: paths.developmentMail,
      async get(context) {
        if (developmentMail === undefined) throw new PageRefused("NOT_FOUND", 404);
        const messages = developmentMail.of(context.at.instanceId);
        return context.show((page) => developmentMailPage(page, { messages }), {
          self: paths.developmentMail,
        });
      },
    },
  ];
}
