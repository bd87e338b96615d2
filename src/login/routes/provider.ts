import { providerGoPage } from "../pages/provider-go.ts";
import { providerPasswordPage } from "../pages/provider-password.ts";
import { paths } from "../paths.ts";
import type { LoginProvider, OfferedProvider } from "../ports.ts";
import { named } from "../parts/finder.ts";
import { partsAt, startOf } from "../parts/pager.ts";
import { providersOfPage, providersPage } from "../pages/providers.ts";
import { cookieOfProvider } from "../recent-providers.ts";
import { createProviderLogin } from "../provider-login.ts";
import { providerRefusal } from "../provider-refusals.ts";
import { missingIn, type Route, type RouteParts, valueOf } from "../route.ts";
import { writing } from "../writing.ts";
import { PageRefused, type PageContext } from "../page-context.ts";
import type { LoginAnswer } from "../web.ts";

const longestId = 200;

/**
 * The way to an identity provider. Whether it is active is looked at anew at each step (E5): a bookmark of this
 * address leads nowhere once it is switched off.
 */
export function providerRoutes(parts: RouteParts): Route[] {
  const { intents } = parts;
  const login = createProviderLogin(parts);

  async function tryPassword(context: PageContext, id: string): Promise<LoginAnswer> {
    await activeIdp(parts, context, id);
    const missing = missingIn(context, ["login_name", "password"]);
    if (missing.length > 0) return context.again({ problems: missing });
    const flow = await context.persisted();
    const tried = {
      username: valueOf(context, "login_name").slice(0, longestId),
      password: context.form.get("password") ?? "",
    };
    const at = { ...writing(context, "system:login"), issuer: context.at.issuer };
    const { organizationId } = context.tenant;
    const wanted = { idpId: id, organizationId, goesOn: { flowId: flow.id } };
    let answered;
    try {
      answered = await intents.lookUp(at, wanted, tried);
    } catch (error) {
      throw providerRefusal(error, context);
    }
    if (answered !== undefined) return login.arrived(context, answered);
    const problems = [{ code: "INVALID_CREDENTIALS", field: "password" }] as const;
    return context.again({ problems });
  }

  return [
    {
      path: paths.provider,
      get: (context) => start(parts, context, context.query.get("idp") ?? ""),
      async post(context) {
        const { id } = await activeIdp(parts, context, valueOf(context, "idp"));
        const answer = context.go(paths.provider, { idp: id });
        return { ...answer, cookies: [...(answer.cookies ?? []), cookieOfProvider(context, id)] };
      },
    },
    { path: paths.providers, get: (context) => showAll(parts, context) },
    {
      path: paths.providerPassword,
      get: (context) => showPassword(parts, context),
      post: (context) => tryPassword(context, valueOf(context, "idp")),
    },
  ];
}

/** What can be chosen in the organization that the log-in is bound to, or in the instance itself, by name. */
export async function offeredProviders(
  { intents, policyOf }: RouteParts,
  { at, tenant }: PageContext,
): Promise<readonly OfferedProvider[]> {
  const { allowExternalIdp } = await policyOf(tenant);
  return allowExternalIdp ? intents.offered(at.instanceId, tenant.organizationId) : [];
}

async function showAll(parts: RouteParts, context: PageContext): Promise<LoginAnswer> {
  if (!context.hasFlow) await context.save({});
  const name = (context.query.get("name") ?? "").slice(0, longestId);
  const from = startOf(context);
  const found = named(await offeredProviders(parts, context), name).slice(from);
  const view = {
    providers: found.slice(0, providersOfPage),
    name,
    parts: partsAt(from, providersOfPage, found.length),
  };
  const self = `${paths.providers}?${new URLSearchParams({ name, from: String(from) })}`;
  return context.show((page) => providersPage(page, view), { self });
}

/** @throws PageRefused PROVIDER_OFF */
async function activeIdp(
  { intents }: RouteParts,
  context: PageContext,
  id: string,
): Promise<LoginProvider> {
  const { instanceId } = context.at;
  const { organizationId } = context.tenant;
  if (id === "" || id.length > longestId) throw new PageRefused("NOT_FOUND", 404);
  try {
    return (await intents.requireIdp(instanceId, organizationId, id)).idp;
  } catch (error) {
    throw providerRefusal(error, context);
  }
}

async function start(parts: RouteParts, context: PageContext, id: string): Promise<LoginAnswer> {
  const idp = await activeIdp(parts, context, id);
  if (idp.type === "ldap") return context.go(paths.providerPassword, { idp: id });
  const flow = await context.persisted();
  const { freshSince, request } = flow.data;
  const at = { ...writing(context, "system:login"), issuer: context.at.issuer };
  try {
    const { way } = await parts.intents.begin(at, {
      idpId: id,
      organizationId: context.tenant.organizationId,
      goesOn: { flowId: flow.id },
      isFresh: freshSince !== undefined,
      loginHint: request?.loginHint,
    });
    const { url } = way;
    const view = { provider: idp.name, url };
    if (way.kind === "form") {
      const { fields } = way;
      const targets = { formTargets: [url] };
      return await context.show((page) => providerGoPage(page, { ...view, fields }), targets);
    }
    const shown = await context.show((page) => providerGoPage(page, view), { hasForms: false });
    return { ...shown, headers: { ...shown.headers, refresh: `0; url=${url}` } };
  } catch (error) {
    throw providerRefusal(error, context);
  }
}

async function showPassword(parts: RouteParts, context: PageContext): Promise<LoginAnswer> {
  const id = valueOf(context, "idp") || (context.query.get("idp") ?? "");
  const { name } = await activeIdp(parts, context, id);
  if (!context.hasFlow) await context.save({});
  const loginName = valueOf(context, "login_name") || context.flow.data.loginName;
  const view = { idpId: id, provider: name, ...(loginName ? { loginName } : {}) };
  const self = `${paths.providerPassword}?${new URLSearchParams({ idp: id })}`;
  return context.show((page) => providerPasswordPage(page, view), { self });
}
