import { hostName } from "../../authz/host.ts";
import { createNewAccounts, type Newcomer, type NewWayIn } from "../new-account.ts";
import type { Problem } from "../page.ts";
import { type RegisterAccountView, registerAccountPage } from "../pages/register-account.ts";
import { createNewcomers } from "../../resources/user/index.ts";
import { paths } from "../paths.ts";
import { createRegistration, type WayIn } from "../registration.ts";
import { missingIn, type Route, type RouteParts, valueOf } from "../route.ts";
import { writing } from "../writing.ts";
import type { PageContext } from "../page-context.ts";
import type { LoginAnswer } from "../web.ts";
import { credentialOf } from "./passkey.ts";
import { usualPasskeyName } from "../usual-passkey-name.ts";
import { newcomerOf } from "./register.ts";

/**
 * The account of somebody who has proven their address, and what they will log in by. The address is the login name; where it leads
 * to somebody else, another one is asked for, and the page says whether it is taken (J13).
 */
export function registerAccountRoute(parts: RouteParts): Route {
  const { advance } = parts;
  const { requireAllowed } = createRegistration(parts);
  const makeAccount = createNewAccounts(parts);
  const { asksName, viewOf } = createViews(parts);

  async function show(context: PageContext, newcomer: Newcomer, ways: readonly WayIn[]) {
    const view = await viewOf(context, newcomer, ways);
    return context.show((page) => registerAccountPage(page, view), {
      self: paths.registerAccount,
    });
  }

  async function post(
    context: PageContext,
    newcomer: Newcomer,
    ways: readonly WayIn[],
  ): Promise<LoginAnswer> {
    const isNamed = newcomer.loginName === undefined && (await asksName(context, newcomer));
    const isByPassword = ways.includes("password");
    const missing = missingIn(context, [
      ...(isNamed ? ["login_name"] : []),
      ...(isByPassword ? ["new_password"] : []),
    ]);
    if (missing.length > 0) return again(context, missing);
    const named = isNamed ? { ...newcomer, loginName: valueOf(context, "login_name") } : newcomer;
    if (isNamed && !isByPassword) {
      await context.save({ ...context.flow.data, newcomer: named });
      return context.go(paths.registerAccount);
    }
    const wayIn = await wayInOf(parts, context, newcomer, ways);
    if (wayIn === undefined) return again(context, [{ code: "WEB_AUTH_N_INVALID" }]);
    const problems = await makeAccount(context, named, wayIn);
    if (problems.length === 0) return advance.next(context);
    const { loginName: _, ...unnamed } = newcomer;
    await context.save({ ...context.flow.data, newcomer: unnamed });
    const asksForName = context.form.has("login_name") || (await asksName(context, unnamed));
    return again(context, asksForName ? problems.map(atName) : problems);
  }

  /** Whoever has not proven an address yet is led to where that is done. */
  async function withProof(context: PageContext, then: typeof post): Promise<LoginAnswer> {
    const ways = await requireAllowed(context);
    const newcomer = newcomerOf(context);
    if (newcomer?.isProven === true) return then(context, newcomer, ways);
    return newcomer === undefined ? advance.next(context) : context.go(paths.verifyEmail);
  }

  return {
    path: paths.registerAccount,
    get: (context) => withProof(context, show),
    post: (context) => withProof(context, post),
  };
}

function createViews(parts: RouteParts) {
  const { users, passwordRulesOf } = parts;
  const { homeOf } = createRegistration(parts);
  const newcomers = createNewcomers(parts.deps);

  /** Whether the address cannot be the login name. */
  async function asksName(context: PageContext, { email }: Newcomer): Promise<boolean> {
    const holder = await users.findByName(context.at.instanceId, email, await homeOf(context));
    return holder !== undefined;
  }

  async function passkeyFor(context: PageContext, newcomer: Newcomer) {
    const { id, givenName, familyName, loginName: name = newcomer.email } = newcomer;
    const domain = hostName(new URL(context.at.issuer).host);
    const asked = { id, domain, name, displayName: `${givenName} ${familyName}` };
    const passkey = await newcomers.passkey(writing(context, "system:login"), asked);
    await context.save({ ...context.flow.data, newcomer: { ...newcomer, passkey } });
    return passkey.options;
  }

  return {
    asksName,

    async viewOf(
      context: PageContext,
      newcomer: Newcomer,
      ways: readonly WayIn[],
    ): Promise<RegisterAccountView> {
      const { email, loginName } = newcomer;
      const isNamed = context.form.has("login_name") || (await asksName(context, newcomer));
      const typed = valueOf(context, "login_name");
      if (ways.includes("password")) {
        const rules = await passwordRulesOf(context.tenant);
        return { email, asked: "password", rules, ...(isNamed ? { loginName: typed } : {}) };
      }
      if (isNamed && loginName === undefined) return { email, asked: "name", loginName: typed };
      const passkey = ways.includes("passkey") ? await passkeyFor(context, newcomer) : undefined;
      return { email, asked: "wayIn", passkey, allowsEmail: ways.includes("email") };
    },
  };
}

/** What was sent to log in by from now on; undefined for what is no passkey. */
async function wayInOf(
  parts: RouteParts,
  context: PageContext,
  { passkey }: Newcomer,
  ways: readonly WayIn[],
): Promise<NewWayIn | undefined> {
  if (ways.includes("password")) {
    return { kind: "password", password: context.form.get("new_password") ?? "" };
  }
  if (valueOf(context, "by") === "email" && ways.includes("email")) return { kind: "email" };
  const credential = await credentialOf(parts, context);
  if (!ways.includes("passkey") || passkey === undefined || credential === undefined) {
    return undefined;
  }
  const { webAuthNId } = passkey;
  return {
    kind: "passkey",
    passkey: { webAuthNId, name: usualPasskeyName(context.language), credential },
  };
}

/** Leads back to what is wrong: to the page before, where it is what that has asked for. */
function again(context: PageContext, problems: readonly Problem[]): Promise<LoginAnswer> {
  const ofNames = problems.filter(({ field }) => field !== undefined && earlier.has(field));
  return ofNames.length > 0
    ? context.again({ problems: ofNames }, paths.register)
    : context.again({ problems });
}

/** That a name is taken is told at the field that asks for one. */
const atName = (problem: Problem): Problem =>
  problem.code === "USERNAME_TAKEN" ? { ...problem, field: "login_name" } : problem;

/** What the page before has asked for. */
const earlier: ReadonlySet<string> = new Set(["given_name", "family_name", "email"]);
