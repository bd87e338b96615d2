import type { Route } from "../../login/route.ts";
import { type AccountParts, ownRoute } from "../own.ts";
import { securityPage } from "../pages/security.ts";
import { accountPaths } from "../paths.ts";
import { waysIn } from "../ways-in.ts";

/** What the person signs in with, at a glance. */
export const securityRoute = (parts: AccountParts): Route =>
  ownRoute(parts, {
    path: accountPaths.security,
    async get(own) {
      const ways = await waysIn(own);
      const view = {
        hasPassword: ways?.password !== undefined,
        passkeys: ways?.webAuthN.filter(({ isVerified }) => isVerified).length ?? 0,
        hasAuthenticator: ways?.totps.some(({ isVerified }) => isVerified) ?? false,
        recoveryCodes: ways?.recoveryCodes?.remaining,
        providers: ways?.identityProviders.length ?? 0,
      };
      return own.show((page) => securityPage(page, view));
    },
  });
