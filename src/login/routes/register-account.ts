import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { sourceOf } from "../../authz/source.ts";
import type { FlowData } from "../flow.ts";
import type { Problem } from "../page.ts";
import { registerPage } from "../pages/register.ts";
import { registerAccountPage } from "../pages/register-account.ts";
import { paths } from "../paths.ts";
import { provePassword } from "../prove.ts";
import { createRegistration } from "../registration.ts";
import { type Route, type RouteParts, toProblems, valueOf } from "../route.ts";
import type { Shown, Visit } from "../visit.ts";
import type { LoginAnswer } from "../web.ts";
import { newcomerOf } from "./register.ts";

type Newcomer = NonNullable<FlowData["newcomer"]>;

/**
 * The account of somebody who has proven their address. The address is the login name; where it leads to somebody else, another
 * one is asked for, and the page says whether it is taken (authority J13).
 */
export function registerAccountRoute(parts: RouteParts): Route {
  const { deps, advance, functions, people, call, passwordRulesOf } = parts;
  const { homeOf, requireAllowed } = createRegistration(parts);

  /** Whether the address cannot be the login name. */
  async function asksName(visit: Visit, { email }: Newcomer): Promise<boolean> {
    const holder = await people.findByName(visit.at.instanceId, email, await homeOf(visit));
    return holder !== undefined;
  }

  async function show(visit: Visit, newcomer: Newcomer, { problems, ...shown }: Shown = {}) {
    const isOfNames = ({ field }: Problem) => field !== undefined && earlier.has(field);
    if (problems?.some(isOfNames)) {
      const all = { ...shown, problems: problems.filter(isOfNames), self: paths.register };
      return visit.show((page) => registerPage(page, { values: newcomer }), all);
    }
    const isNamed =
      problems?.some(({ field }) => field === "login_name") || (await asksName(visit, newcomer));
    const view = {
      email: newcomer.email,
      rules: await passwordRulesOf(visit.place),
      ...(isNamed ? { loginName: valueOf(visit, "login_name") } : {}),
    };
    return visit.show((page) => registerAccountPage(page, view), {
      ...shown,
      ...(problems === undefined ? {} : { problems }),
      self: paths.registerAccount,
    });
  }

  async function missingIn(visit: Visit, newcomer: Newcomer): Promise<readonly Problem[]> {
    const isNamed = await asksName(visit, newcomer);
    return [...(isNamed ? ["login_name"] : []), "new_password"]
      .filter((name) => valueOf(visit, name) === "")
      .map((field) => ({ code: "FIELD_MISSING", field }));
  }

  /** What is wrong; nothing when the account is made and its owner logged in. */
  async function register(visit: Visit, newcomer: Newcomer): Promise<readonly Problem[]> {
    const { givenName, familyName, email } = newcomer;
    const username = valueOf(visit, "login_name") || email;
    const organizationId = await homeOf(visit);
    const password = visit.form.get("new_password") ?? "";
    const data = {
      given_name: givenName,
      family_name: familyName,
      preferred_language: visit.language,
    };
    const contact = {
      email: { address: email, verification: { case: "isVerified", value: true } },
    } as const;
    const authenticators = { password: { type: { case: "password", value: password } } } as const;
    deps.budgets.spend("registrations", sourceOf(visit.at.peer));
    try {
      const described = { username, organization_id: organizationId, data, email };
      const keep = await functions.creating(visit.at, described);
      const made = await call(
        UserService.method.createUser,
        { user: { username, data, contact, authenticators } },
        { ...visit.asService(organizationId), hasProvenAddress: true },
      );
      const user = { id: made.details?.id ?? "", organizationId };
      await keep(user.id);
      await functions.created(visit.at, user);
      const { newcomer: _, sessionId: __, mustChangePassword: ___, ...rest } = visit.flow.data;
      const loginName = username;
      await visit.save({ ...rest, loginName, userId: user.id, isChosen: true });
      await provePassword(parts, visit, password);
      return [];
    } catch (error) {
      return toProblems(error);
    }
  }

  /** Whoever has not proven an address yet is led to where that is done. */
  async function withProof(
    visit: Visit,
    then: (newcomer: Newcomer) => Promise<LoginAnswer>,
  ): Promise<LoginAnswer> {
    await requireAllowed(visit);
    const newcomer = newcomerOf(visit);
    if (newcomer?.isProven === true) return then(newcomer);
    return newcomer === undefined ? advance.next(visit) : visit.go(paths.verifyEmail);
  }

  return {
    path: paths.registerAccount,
    get: (visit) => withProof(visit, (newcomer) => show(visit, newcomer)),
    post: (visit) =>
      withProof(visit, async (newcomer) => {
        const missing = await missingIn(visit, newcomer);
        if (missing.length > 0) return show(visit, newcomer, { problems: missing });
        const problems = await register(visit, newcomer);
        return problems.length > 0 ? show(visit, newcomer, { problems }) : advance.next(visit);
      }),
  };
}

/** What the page before has asked for. */
const earlier: ReadonlySet<string> = new Set(["given_name", "family_name", "email"]);
