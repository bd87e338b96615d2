import type { Route } from "../login/route.ts";
import { type AccountParts, ownRoute } from "./own.ts";
import { overviewPage } from "./pages/overview.ts";
import { accountPaths } from "./paths.ts";
import { appsRoute } from "./routes/apps.ts";
import { authenticatorRoute } from "./routes/authenticator.ts";
import { contactRoutes } from "./routes/contact.ts";
import { dataRoutes } from "./routes/data.ts";
import { historyRoute } from "./routes/history.ts";
import { organizationsRoute } from "./routes/organizations.ts";
import { passkeyRoutes } from "./routes/passkeys.ts";
import { passwordRoute } from "./routes/password.ts";
import { profileRoute } from "./routes/profile.ts";
import { providersRoute } from "./routes/providers.ts";
import { recoveryCodesRoute } from "./routes/recovery-codes.ts";
import { securityRoute } from "./routes/security.ts";
import { sessionsRoute } from "./routes/sessions.ts";

export type { AllowedApp, AllowedApps, GrantedRoles, Own, Part, SignIns } from "./own.ts";
export { accountPaths } from "./paths.ts";

/** The pages on which people see and rule of what is their own (`/ui/account`). */
export function accountRoutes(parts: AccountParts): Route[] {
  return [
    ownRoute(parts, {
      path: accountPaths.overview,
      get: (own) => own.show((page) => overviewPage(page)),
    }),
    profileRoute(parts),
    ...contactRoutes(parts),
    securityRoute(parts),
    passwordRoute(parts),
    ...passkeyRoutes(parts),
    authenticatorRoute(parts),
    recoveryCodesRoute(parts),
    providersRoute(parts),
    sessionsRoute(parts),
    appsRoute(parts),
    historyRoute(parts),
    organizationsRoute(parts),
    ...dataRoutes(parts),
  ];
}
