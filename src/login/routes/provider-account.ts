import { providerAccountPage } from "../pages/provider-account.ts";
import { providerRegisterPage } from "../pages/provider-register.ts";
import { paths } from "../paths.ts";
import { createProviderLogin } from "../provider-login.ts";
import { isAddress } from "../registration.ts";
import { missingIn, type Route, type RouteParts, toProblems, valueOf } from "../route.ts";
import { PageRefused, type PageContext } from "../page-context.ts";

/** What becomes of an account of a provider that nobody here has: it is linked, or gets a new user. */
export function providerAccountRoutes(parts: RouteParts): Route[] {
  const { now } = parts;
  const login = createProviderLogin(parts);

  const typedIn = (context: PageContext) => ({
    givenName: valueOf(context, "given_name"),
    familyName: valueOf(context, "family_name"),
    email: valueOf(context, "email"),
  });

  async function choices(context: PageContext) {
    const { idp, identity } = await login.pendingAccount(context);
    const { isLinkingAllowed, isCreationAllowed } = idp.options;
    const hasCandidate = context.flow.data.idp?.candidateId !== undefined;
    const allowsLink = isLinkingAllowed || hasCandidate;
    return { idp, identity, hasCandidate, allowsLink, allowsCreate: isCreationAllowed };
  }

  async function showRegister(context: PageContext) {
    const { idp, identity, allowsCreate } = await choices(context);
    if (!allowsCreate) throw new PageRefused("PROVIDER_NO_ACCOUNT", 403);
    const { firstName, lastName, email } = identity;
    const said = {
      ...(firstName === undefined ? {} : { givenName: firstName }),
      ...(lastName === undefined ? {} : { familyName: lastName }),
      ...(email === undefined ? {} : { email }),
    };
    const values = context.form.size > 0 ? typedIn(context) : said;
    return context.show((page) => providerRegisterPage(page, { provider: idp.name, values }), {
      self: paths.providerRegister,
    });
  }

  return [
    {
      path: paths.providerAccount,
      async get(context) {
        const { idp, identity, ...allowed } = await choices(context);
        if (!allowed.allowsLink && !allowed.allowsCreate) {
          throw new PageRefused("PROVIDER_NO_ACCOUNT", 403);
        }
        const account = identity.username ?? identity.email;
        const named = account === undefined ? {} : { account };
        const view = { provider: idp.name, ...allowed, ...named };
        return context.show((page) => providerAccountPage(page, view), {
          self: paths.providerAccount,
        });
      },
      async post(context) {
        const { allowsLink, allowsCreate } = await choices(context);
        const { idp: pending, ...rest } = context.flow.data;
        if (valueOf(context, "do") === "create" && allowsCreate) {
          return context.go(paths.providerRegister);
        }
        if (!allowsLink || pending === undefined) throw new PageRefused("PROVIDER_NO_ACCOUNT", 403);
        // Whoever gets the link authenticates now, whatever this browser was let in with before.
        const freshSince = now().getTime();
        await context.save({ ...rest, freshSince, idp: { ...pending, isLinking: true } });
        return context.go(paths.loginName, { notice: "SIGN_IN_TO_CONNECT" });
      },
    },
    {
      path: paths.providerRegister,
      get: showRegister,
      async post(context) {
        const typed = typedIn(context);
        const { allowsCreate } = await choices(context);
        if (!allowsCreate) throw new PageRefused("PROVIDER_NO_ACCOUNT", 403);
        const missing = missingIn(context, ["given_name", "family_name", "email"]);
        if (missing.length > 0) return context.again({ problems: missing });
        if (!isAddress(typed.email)) {
          return context.again({ problems: [{ code: "EMAIL_INVALID", field: "email" }] });
        }
        try {
          return await login.create(context, typed);
        } catch (error) {
          if (error instanceof PageRefused) throw error;
          return context.again({ problems: toProblems(error) });
        }
      },
    },
  ];
}
