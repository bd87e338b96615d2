import type { Route } from "../login/route.ts";
import { type AccountParts, ownRoute } from "./own.ts";
import { overviewPage } from "./pages/overview.ts";
import { accountPaths } from "./paths.ts";
import { contactRoutes } from "./routes/contact.ts";
import { organizationsRoute } from "./routes/organizations.ts";
import { passwordRoute } from "./routes/password.ts";
import { profileRoute } from "./routes/profile.ts";

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
    passwordRoute(parts),
    organizationsRoute(parts),
  ];
}
