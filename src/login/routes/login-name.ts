import { randomBytes } from "node:crypto";
import type { OfferedProvider } from "../ports.ts";
import { hostName } from "../../authz/host.ts";
import { constantTime } from "../../constant-time.ts";
import type { LoginPolicy } from "../../settings/policy/login.ts";
import { loginNamePage, mostProviders } from "../pages/login-name.ts";
import { longestLoginName } from "../parts/field.ts";
import { paths } from "../paths.ts";
import {
  isMeant,
  missingIn,
  noticeOf,
  problemsOf,
  type Route,
  type RouteParts,
  valueOf,
} from "../route.ts";
import { recentFirst } from "../recent-providers.ts";
import { offeredProviders } from "./provider.ts";
import { passkeyOptions } from "../passkey-options.ts";
import { waysToRegister } from "../registration.ts";
import { PageRefused, type Shown, type PageContext } from "../page-context.ts";

/** Those that were chosen last in this browser first. */
function firstProviders(context: PageContext, all: readonly OfferedProvider[]) {
  const providers = recentFirst(context, all).slice(0, mostProviders);
  return { providers, hasMoreProviders: all.length > mostProviders };
}

/** A name is of use only where something is asked after it. */
const allowsName = ({ allowUsernamePassword, firstFactors }: LoginPolicy): boolean =>
  allowUsernamePassword || firstFactors.includes("email");

/** Who logs in. A name of nobody goes on like every other (D49). */
export function loginNameRoute(parts: RouteParts): Route {
  const { always } = constantTime(50);
  const { users, advance, policyOf, sessions } = parts;

  async function show(context: PageContext, shown: Shown) {
    const policy = await policyOf(context.tenant);
    const { data } = context.hasFlow ? context.flow : await context.save({});
    const domain = hostName(new URL(context.at.issuer).host);
    const challenge = data.passkey?.challenge ?? randomBytes(32).toString("base64url");
    if (data.passkey === undefined) await context.save({ ...data, passkey: { challenge, domain } });
    const app = data.request && (await parts.appOf(context.at.instanceId, data.request.clientId));
    const typed = context.form.get("login_name");
    const loginName = typed ?? data.loginName ?? data.request?.loginHint;
    const view = {
      ...(loginName === undefined ? {} : { loginName }),
      ...(app === undefined ? {} : { app: app.name }),
      allowsLoginName: allowsName(policy),
      allowsRegister: waysToRegister(policy).length > 0,
      ...(policy.passkeysAllowed ? { passkeyOptions: passkeyOptions(challenge, domain) } : {}),
      ...firstProviders(context, await offeredProviders(parts, context)),
    };
    return context.show((page) => loginNamePage(page, view), { ...shown, self: paths.loginName });
  }

  return {
    path: paths.loginName,
    get: (context) => show(context, { ...problemsOf(context), ...noticeOf(context) }),
    async post(context) {
      const policy = await policyOf(context.tenant);
      if (!allowsName(policy)) throw new PageRefused("NOT_FOUND", 404);
      const typed = valueOf(context, "login_name").slice(0, longestLoginName);
      const missing = missingIn(context, ["login_name"]);
      if (missing.length > 0) return context.again({ problems: missing });
      const { data } = context.hasFlow ? context.flow : await context.save({});
      const { sessionId: _, userId: __, isEmailSent: ___, ...rest } = data;
      const { userId, fits, known } = await always(() => find(context, typed));
      if (!fits && !policy.ignoreUnknownUsernames) {
        const problems = [{ code: "INVALID_CREDENTIALS", field: "login_name" }] as const;
        return context.again({ problems });
      }
      await context.save({
        ...rest,
        loginName: typed,
        isChosen: true,
        ...(fits && userId !== undefined ? { userId } : {}),
        ...(known === undefined ? {} : { sessionId: known }),
      });
      return advance.next(context);
    },
  };

  /** Who has the name, whether the request means them, and their session in this browser. */
  async function find(context: PageContext, typed: string) {
    const { instanceId } = context.at;
    const userId = await users.find(instanceId, typed, context.tenant.organizationId);
    const fits = userId !== undefined && (await isMeant(parts, context, userId));
    const known = fits ? await ownSession(context, userId) : undefined;
    return { userId, fits, known };
  }

  /** The session that they have in this browser already. */
  async function ownSession(
    { agent, at }: PageContext,
    userId: string,
  ): Promise<string | undefined> {
    for (const id of agent.sessionIds.toReversed()) {
      const session = await sessions.find(at.instanceId, id);
      if (session?.user.id === userId) return id;
    }
    return undefined;
  }
}
