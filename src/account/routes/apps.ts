import { ConsentService } from "#gen/idsvc/resources/consent/v3alpha/consent_service_pb.ts";
import { type Route, valueOf } from "../../login/route.ts";
import { partsAt, startOf } from "../../login/parts/pager.ts";
import { type AccountParts, atMost, ownRoute } from "../own.ts";
import { appsOfPage, appsPage } from "../pages/apps.ts";
import { partOf } from "../parts/pager.ts";
import { accountPaths } from "../paths.ts";
import { taken } from "../problems.ts";

const { method } = ConsentService;
const path = accountPaths.apps;

/** What the person allowed apps, and the end of it. */
export const appsRoute = (parts: AccountParts): Route =>
  ownRoute(parts, {
    path,
    async get(own) {
      const { instanceId } = own.context.at;
      const from = startOf(own.context);
      const { result } = await own.call(method.searchConsents, {
        query: { limit: atMost(parts, appsOfPage + 1), offset: BigInt(from) },
        filters: [{ filter: { case: "userId", value: own.user.id } }],
      });
      const shown = result.slice(0, appsOfPage);
      const apps = await Promise.all(
        shown.map(async ({ details, appName, clientId, ...consent }) => ({
          id: details?.id ?? "",
          app: appName || clientId,
          scopes: await parts.consents.besideOwnApi(instanceId, consent.scopes),
          access: consent.access,
          since: consent.since,
          lastUsed: consent.lastUsed,
        })),
      );
      const organization = await parts.users.organizationName(instanceId, own.user.organizationId);
      const view = { apps, organization, parts: partsAt(from, appsOfPage, result.length) };
      return own.show((page) => appsPage(page, view), {
        self: partOf(path, from),
      });
    },
    async post(own) {
      const request = { id: valueOf(own.context, "revoke") };
      const problems =
        request.id === "" ? [] : await taken(() => own.call(method.deleteConsent, request));
      if (problems.length > 0) return own.context.again({ problems });
      return own.done(path, "ACCESS_REVOKED");
    },
  });
