import type { Problem } from "../page.ts";
import { providerAccountPage } from "../pages/provider-account.ts";
import { providerRegisterPage } from "../pages/provider-register.ts";
import { paths } from "../paths.ts";
import { createProviderLogin } from "../provider-login.ts";
import { type Route, type RouteParts, toProblems, valueOf } from "../route.ts";
import { PageRefused, type Visit } from "../visit.ts";

/** What becomes of an account of a provider that nobody here has: it is linked, or gets a new user. */
export function providerAccountRoutes(parts: RouteParts): Route[] {
  const { now } = parts;
  const login = createProviderLogin(parts);

  const typedIn = (visit: Visit) => ({
    givenName: valueOf(visit, "given_name"),
    familyName: valueOf(visit, "family_name"),
    email: valueOf(visit, "email"),
  });

  async function choices(visit: Visit) {
    const { idp, identity } = await login.held(visit);
    const { isLinkingAllowed, isCreationAllowed } = idp.options;
    const hasCandidate = visit.flow.data.idp?.candidateId !== undefined;
    const allowsLink = isLinkingAllowed || hasCandidate;
    return { idp, identity, hasCandidate, allowsLink, allowsCreate: isCreationAllowed };
  }

  async function showRegister(visit: Visit) {
    const { idp, identity, allowsCreate } = await choices(visit);
    if (!allowsCreate) throw new PageRefused("PROVIDER_NO_ACCOUNT", 403);
    const { firstName, lastName, email } = identity;
    const said = {
      ...(firstName === undefined ? {} : { givenName: firstName }),
      ...(lastName === undefined ? {} : { familyName: lastName }),
      ...(email === undefined ? {} : { email }),
    };
    const values = visit.form.size > 0 ? typedIn(visit) : said;
    return visit.show((page) => providerRegisterPage(page, { provider: idp.name, values }), {
      self: paths.providerRegister,
    });
  }

  return [
    {
      path: paths.providerAccount,
      async get(visit) {
        const { idp, identity, ...allowed } = await choices(visit);
        if (!allowed.allowsLink && !allowed.allowsCreate) {
          throw new PageRefused("PROVIDER_NO_ACCOUNT", 403);
        }
        const account = identity.username ?? identity.email;
        const view = {
          ...{ provider: idp.name, ...allowed },
          ...(account === undefined ? {} : { account }),
        };
        return visit.show((page) => providerAccountPage(page, view), {
          self: paths.providerAccount,
        });
      },
      async post(visit) {
        const { allowsLink, allowsCreate } = await choices(visit);
        const { idp: held, ...rest } = visit.flow.data;
        if (valueOf(visit, "do") === "create" && allowsCreate) {
          return visit.go(paths.providerRegister);
        }
        if (!allowsLink || held === undefined) throw new PageRefused("PROVIDER_NO_ACCOUNT", 403);
        // Whoever gets the link proves himself now, whatever this browser was let in with before.
        const freshSince = now().getTime();
        await visit.save({ ...rest, freshSince, idp: { ...held, isLinking: true } });
        return visit.go(paths.loginName, { notice: "SIGN_IN_TO_CONNECT" });
      },
    },
    {
      path: paths.providerRegister,
      get: showRegister,
      async post(visit) {
        const typed = typedIn(visit);
        const { allowsCreate } = await choices(visit);
        if (!allowsCreate) throw new PageRefused("PROVIDER_NO_ACCOUNT", 403);
        const missing = Object.entries({
          given_name: typed.givenName,
          family_name: typed.familyName,
          email: typed.email,
        })
          .filter(([, value]) => value === "")
          .map(([field]): Problem => ({ code: "FIELD_MISSING", field }));
        if (missing.length > 0) return visit.again({ problems: missing });
        try {
          return await login.create(visit, typed);
        } catch (error) {
          if (error instanceof PageRefused) throw error;
          return visit.again({ problems: toProblems(error) });
        }
      },
    },
  ];
}
