import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { sourceOf } from "../../authz/source.ts";
import { leave } from "../../login/advance.ts";
import { named } from "../../login/parts/finder.ts";
import { partsAt } from "../../login/parts/pager.ts";
import { paths } from "../../login/paths.ts";
import { type Route, valueOf } from "../../login/route.ts";
import type { LoginAnswer } from "../../login/web.ts";
import { type AccountParts, type Own, ownRoute } from "../own.ts";
import { providersOfPage, providersPage, providersPart } from "../pages/providers.ts";
import { newestOf } from "../parts/pager.ts";
import { accountPaths } from "../paths.ts";
import { taken } from "../problems.ts";
import { isLastWayIn, waysIn } from "../ways-in.ts";

const { method } = UserService;
const path = accountPaths.providers;
const longestName = 200;

/** Accounts at providers: seen, linked and unlinked. */
export function providersRoute(parts: AccountParts): Route {
  const { intents } = parts;

  /** What can be linked: what the log-in offers to users of the organization, as far as it may be linked. */
  async function offered({ context, user }: Own) {
    const { instanceId } = context.at;
    const { organizationId } = user;
    const { allowExternalIdp } = await parts.policyOf({ instanceId, organizationId });
    if (!allowExternalIdp) return [];
    const all = await intents.offered(instanceId, organizationId);
    const known = await Promise.all(all.map(async ({ id }) => intents.provider(instanceId, id)));
    return known.filter((idp) => idp !== undefined).filter((idp) => idp.options.isLinkingAllowed);
  }

  async function remove(own: Own, idpId: string): Promise<LoginAnswer> {
    const isLast = isLastWayIn(await waysIn(own), { idpId });
    if (isLast) return own.context.again({ problems: [{ code: "LAST_WAY_IN" }] });
    const request = { id: own.user.id, idpId };
    const problems = await taken(() => own.call(method.removeIDPAuthenticator, request));
    if (problems.length > 0) return own.context.again({ problems });
    return own.done(path, "REMOVED");
  }

  /** The log-in at the provider is a flow of its own, at whose end the account there is linked. */
  async function link(own: Own, idpId: string): Promise<LoginAnswer> {
    const { context, session, user, caller } = own;
    const { at, agent } = context;
    const found = (await offered(own)).find(({ id }) => id === idpId);
    if (found === undefined) return own.done(path);
    await parts.requireStepUp({ instanceId: at.instanceId, caller });
    parts.deps.budgets.spend("flows", sourceOf(at.peer));
    const { address } = await parts.flows.begin(at.instanceId, agent.id, {
      sessionId: session.id,
      returnTo: `${path}?${new URLSearchParams({ notice: "LINKED" })}`,
      own: { sessionId: session.id, linking: { organizationId: user.organizationId } },
    });
    const query = new URLSearchParams({ flow: address, idp: idpId });
    return leave(context.go(""), `${paths.provider}?${query}`);
  }

  return ownRoute(parts, {
    path,
    async get(own) {
      const all = (await waysIn(own))?.identityProviders ?? [];
      const { instanceId } = own.context.at;
      const { shown, from } = newestOf(all, own.context, providersOfPage);
      const links = await Promise.all(
        shown.map(async ({ idpId, username, creationDate: since, suspended: isSuspended }) => ({
          idpId,
          username,
          since,
          isSuspended,
          provider: (await intents.provider(instanceId, idpId))?.name ?? idpId,
        })),
      );
      const linked = new Set(all.filter(({ suspended }) => !suspended).map(({ idpId }) => idpId));
      const more = (await offered(own)).filter(({ id }) => !linked.has(id));
      const name = (own.context.query.get("name") ?? "").slice(0, longestName);
      const matching = named(more, name);
      const view = {
        links,
        offered: matching.slice(from, from + providersOfPage),
        name,
        parts: partsAt(from, providersOfPage, Math.max(all.length, matching.length) - from),
      };
      return own.show((page) => providersPage(page, view), { self: providersPart(from, name) });
    },
    async post(own) {
      const id = valueOf(own.context, "remove");
      return id === "" ? link(own, valueOf(own.context, "link")) : remove(own, id);
    },
  });
}
