import { providerGoPage } from "../pages/provider-go.ts";
import { providerPasswordPage } from "../pages/provider-password.ts";
import { paths } from "../paths.ts";
import { createProviderLogin } from "../provider-login.ts";
import { providerRefusal } from "../provider-refusals.ts";
import { type Route, type RouteParts, valueOf } from "../route.ts";
import { writing } from "../writing.ts";
import { PageRefused, type Visit } from "../visit.ts";
import type { LoginAnswer } from "../web.ts";
import type { Idp } from "../../resources/idp/index.ts";

const longestId = 200;

/**
 * The way to an identity provider. Whether it is active is looked at anew at each step (E5): a bookmark of this
 * address leads nowhere once it is switched off.
 */
export function providerRoutes(parts: RouteParts): Route[] {
  const { intents } = parts;
  const login = createProviderLogin(parts);

  /** @throws PageRefused PROVIDER_OFF */
  async function activeIdp(visit: Visit, id: string): Promise<Idp> {
    const { instanceId } = visit.at;
    const { organizationId } = visit.place;
    if (id === "" || id.length > longestId) throw new PageRefused("NOT_FOUND", 404);
    try {
      return (await intents.requireIdp(instanceId, organizationId, id)).idp;
    } catch (error) {
      throw providerRefusal(error, visit);
    }
  }

  async function start(visit: Visit, id: string): Promise<LoginAnswer> {
    const idp = await activeIdp(visit, id);
    if (idp.type === "ldap") return visit.go(paths.providerPassword, { idp: id });
    const flow = await visit.kept();
    const { freshSince, request } = flow.data;
    const at = { ...writing(visit, "system:login"), issuer: visit.at.issuer };
    try {
      const { way } = await intents.begin(at, {
        idpId: id,
        organizationId: visit.place.organizationId,
        goesOn: { flowId: flow.id },
        isFresh: freshSince !== undefined,
        loginHint: request?.loginHint,
      });
      const { url } = way;
      const view = { provider: idp.name, url };
      if (way.kind === "form") {
        const { fields } = way;
        const targets = { formTargets: [url] };
        return await visit.show((page) => providerGoPage(page, { ...view, fields }), targets);
      }
      const shown = await visit.show((page) => providerGoPage(page, view), { hasForms: false });
      return { ...shown, headers: { ...shown.headers, refresh: `0; url=${url}` } };
    } catch (error) {
      throw providerRefusal(error, visit);
    }
  }

  async function showPassword(visit: Visit): Promise<LoginAnswer> {
    const id = valueOf(visit, "idp") || (visit.query.get("idp") ?? "");
    const { name } = await activeIdp(visit, id);
    if (!visit.hasFlow) await visit.save({});
    const loginName = valueOf(visit, "login_name") || visit.flow.data.loginName;
    const view = { idpId: id, provider: name, ...(loginName ? { loginName } : {}) };
    const self = `${paths.providerPassword}?${new URLSearchParams({ idp: id })}`;
    return visit.show((page) => providerPasswordPage(page, view), { self });
  }

  async function tryPassword(visit: Visit, id: string): Promise<LoginAnswer> {
    await activeIdp(visit, id);
    const flow = await visit.kept();
    const tried = {
      username: valueOf(visit, "login_name").slice(0, longestId),
      password: visit.form.get("password") ?? "",
    };
    const at = { ...writing(visit, "system:login"), issuer: visit.at.issuer };
    const { organizationId } = visit.place;
    const wanted = { idpId: id, organizationId, goesOn: { flowId: flow.id } };
    let told;
    try {
      told = await intents.lookUp(at, wanted, tried);
    } catch (error) {
      throw providerRefusal(error, visit);
    }
    if (told !== undefined) return login.arrived(visit, told);
    const problems = [{ code: "INVALID_CREDENTIALS", field: "password" }] as const;
    return visit.again({ problems });
  }

  return [
    {
      path: paths.provider,
      get: (visit) => start(visit, visit.query.get("idp") ?? ""),
      async post(visit) {
        const { id } = await activeIdp(visit, valueOf(visit, "idp"));
        return visit.go(paths.provider, { idp: id });
      },
    },
    {
      path: paths.providerPassword,
      get: showPassword,
      post: (visit) => tryPassword(visit, valueOf(visit, "idp")),
    },
  ];
}
