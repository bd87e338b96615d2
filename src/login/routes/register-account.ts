import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { sourceOf } from "../../authz/source.ts";
import type { FlowData } from "../flow.ts";
import type { Problem } from "../page.ts";
import { registerAccountPage } from "../pages/register-account.ts";
import { requirePolicy } from "../../resources/user/index.ts";
import { paths } from "../paths.ts";
import { provePassword } from "../prove.ts";
import { createRegistration } from "../registration.ts";
import { type Route, type RouteParts, toProblems, valueOf } from "../route.ts";
import type { Visit } from "../visit.ts";
import type { LoginAnswer } from "../web.ts";
import { newcomerOf } from "./register.ts";

type Newcomer = NonNullable<FlowData["newcomer"]>;

/**
 * The account of somebody who has proven their address. The address is the login name; where it leads to somebody else, another
 * one is asked for, and the page says whether it is taken (J13).
 */
export function registerAccountRoute(parts: RouteParts): Route {
  const { deps, advance, functions, people, call, passwordRulesOf } = parts;
  const { homeOf, requireAllowed } = createRegistration(parts);

  /** Whether the address cannot be the login name. */
  async function asksName(visit: Visit, { email }: Newcomer): Promise<boolean> {
    const holder = await people.findByName(visit.at.instanceId, email, await homeOf(visit));
    return holder !== undefined;
  }

  async function show(visit: Visit, newcomer: Newcomer) {
    const isNamed = visit.form.has("login_name") || (await asksName(visit, newcomer));
    const view = {
      email: newcomer.email,
      rules: await passwordRulesOf(visit.place),
      ...(isNamed ? { loginName: valueOf(visit, "login_name") } : {}),
    };
    return visit.show((page) => registerAccountPage(page, view), {
      self: paths.registerAccount,
    });
  }

  /** Leads back to what is wrong: to the page before, where it is what that has asked for. */
  function again(visit: Visit, problems: readonly Problem[]): Promise<LoginAnswer> {
    const ofNames = problems.filter(({ field }) => field !== undefined && earlier.has(field));
    return ofNames.length > 0
      ? visit.again({ problems: ofNames }, paths.register)
      : visit.again({ problems });
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
    const rules = await passwordRulesOf(visit.place);
    const person = { username, email: { address: email, isVerified: true }, data };
    const weak = await problemsOf(() => requirePolicy(rules, password, person, "new_password"));
    if (weak.length > 0) return weak;
    // What tells whether a name is taken counts, and so does what is told to targets; a password that is too short is neither.
    deps.budgets.spend("registrations", sourceOf(visit.at.peer));
    return problemsOf(async () => {
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
    });
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
        if (missing.length > 0) return again(visit, missing);
        const problems = await register(visit, newcomer);
        return problems.length > 0 ? again(visit, problems) : advance.next(visit);
      }),
  };
}

/** What is wrong; nothing when it is done. */
async function problemsOf(work: () => Promise<void>): Promise<readonly Problem[]> {
  try {
    await work();
    return [];
  } catch (error) {
    return toProblems(error);
  }
}

/** What the page before has asked for. */
const earlier: ReadonlySet<string> = new Set(["given_name", "family_name", "email"]);
