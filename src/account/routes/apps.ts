import { type Route, valueOf } from "../../login/route.ts";
import { partsAt, startOf } from "../../login/parts/pager.ts";
import { type AccountParts, atMost, ownRoute } from "../own.ts";
import { appsOfPage, appsPage } from "../pages/apps.ts";
import { partOf } from "../parts/pager.ts";
import { accountPaths } from "../paths.ts";
import { taken } from "../problems.ts";

const path = accountPaths.apps;

/** What the person allowed apps, and the end of it. */
export const appsRoute = (parts: AccountParts): Route =>
  ownRoute(parts, {
    path,
    async get(own) {
      const { instanceId } = own.context.at;
      const from = startOf(own.context);
      const limit = atMost(parts, appsOfPage + 1);
      const found = await parts.allowedApps.search(own, { limit, offset: from });
      const apps = await Promise.all(
        found.slice(0, appsOfPage).map(async (each) => ({
          ...each,
          scopes: await parts.consents.besideOwnApi(instanceId, each.scopes),
        })),
      );
      const organization = await parts.users.organizationName(instanceId, own.user.organizationId);
      const view = { apps, organization, parts: partsAt(from, appsOfPage, found.length) };
      return own.show((page) => appsPage(page, view), {
        self: partOf(path, from),
      });
    },
    async post(own) {
      const id = valueOf(own.context, "revoke");
      const problems = id === "" ? [] : await taken(() => parts.allowedApps.end(own, id));
      if (problems.length > 0) return own.context.again({ problems });
      return own.done(path, "ACCESS_REVOKED");
    },
  });
