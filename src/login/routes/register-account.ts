import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { sourceOf } from "../../authz/source.ts";
import type { FlowData } from "../flow.ts";
import type { Problem } from "../page.ts";
import { registerAccountPage } from "../pages/register-account.ts";
import { requirePolicy } from "../../resources/user/index.ts";
import { paths } from "../paths.ts";
import { provePassword } from "../prove.ts";
import { createRegistration } from "../registration.ts";
import { missingIn, type Route, type RouteParts, toProblems, valueOf } from "../route.ts";
import type { PageContext } from "../page-context.ts";
import type { LoginAnswer } from "../web.ts";
import { newcomerOf } from "./register.ts";

type Newcomer = NonNullable<FlowData["newcomer"]>;

/**
 * The account of somebody who has proven their address. The address is the login name; where it leads to somebody else, another
 * one is asked for, and the page says whether it is taken (J13).
 */
export function registerAccountRoute(parts: RouteParts): Route {
  const { deps, advance, functions, users, call, passwordRulesOf } = parts;
  const { homeOf, requireAllowed } = createRegistration(parts);

  /** Whether the address cannot be the login name. */
  async function asksName(context: PageContext, { email }: Newcomer): Promise<boolean> {
    const holder = await users.findByName(context.at.instanceId, email, await homeOf(context));
    return holder !== undefined;
  }

  async function show(context: PageContext, newcomer: Newcomer) {
    const isNamed = context.form.has("login_name") || (await asksName(context, newcomer));
    const view = {
      email: newcomer.email,
      rules: await passwordRulesOf(context.tenant),
      ...(isNamed ? { loginName: valueOf(context, "login_name") } : {}),
    };
    return context.show((page) => registerAccountPage(page, view), {
      self: paths.registerAccount,
    });
  }

  /** What is wrong; nothing when the account is made and its owner logged in. */
  async function register(context: PageContext, newcomer: Newcomer): Promise<readonly Problem[]> {
    const { givenName, familyName, email } = newcomer;
    const username = valueOf(context, "login_name") || email;
    const organizationId = await homeOf(context);
    const password = context.form.get("new_password") ?? "";
    const data = {
      given_name: givenName,
      family_name: familyName,
      preferred_language: context.language,
    };
    const contact = {
      email: { address: email, verification: { case: "isVerified", value: true } },
    } as const;
    const authenticators = { password: { type: { case: "password", value: password } } } as const;
    const rules = await passwordRulesOf(context.tenant);
    const person = { username, email: { address: email, isVerified: true }, data };
    const weak = await problemsOf(() => requirePolicy(rules, password, person, "new_password"));
    if (weak.length > 0) return weak;
    // What tells whether a name is taken counts, and so does what is told to targets; a password that is too short is neither.
    deps.budgets.spend("registrations", sourceOf(context.at.peer));
    return problemsOf(async () => {
      const described = { username, organization_id: organizationId, data, email };
      const keep = await functions.creating(context.at, described);
      const made = await call(
        UserService.method.createUser,
        { user: { username, data, contact, authenticators } },
        { ...context.asService(organizationId), hasProvenAddress: true },
      );
      const user = { id: made.details?.id ?? "", organizationId };
      await keep(user.id);
      await functions.created(context.at, user);
      const { newcomer: _, sessionId: __, mustChangePassword: ___, ...rest } = context.flow.data;
      const loginName = username;
      await context.save({ ...rest, loginName, userId: user.id, isChosen: true });
      await provePassword(parts, context, password);
    });
  }

  /** Whoever has not proven an address yet is led to where that is done. */
  async function withProof(
    context: PageContext,
    then: (newcomer: Newcomer) => Promise<LoginAnswer>,
  ): Promise<LoginAnswer> {
    await requireAllowed(context);
    const newcomer = newcomerOf(context);
    if (newcomer?.isProven === true) return then(newcomer);
    return newcomer === undefined ? advance.next(context) : context.go(paths.verifyEmail);
  }

  return {
    path: paths.registerAccount,
    get: (context) => withProof(context, (newcomer) => show(context, newcomer)),
    post: (context) =>
      withProof(context, async (newcomer) => {
        const isNamed = await asksName(context, newcomer);
        const missing = missingIn(context, [...(isNamed ? ["login_name"] : []), "new_password"]);
        if (missing.length > 0) return again(context, missing);
        const problems = await register(context, newcomer);
        return problems.length > 0 ? again(context, problems) : advance.next(context);
      }),
  };
}

/** Leads back to what is wrong: to the page before, where it is what that has asked for. */
function again(context: PageContext, problems: readonly Problem[]): Promise<LoginAnswer> {
  const ofNames = problems.filter(({ field }) => field !== undefined && earlier.has(field));
  return ofNames.length > 0
    ? context.again({ problems: ofNames }, paths.register)
    : context.again({ problems });
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
