import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { sourceOf } from "../../authz/source.ts";
import { DomainError } from "../../errors.ts";
import { instanceFacts } from "../../resources/instance/index.ts";
import { tellNews } from "../../resources/user/index.ts";
import { asUser } from "../as-user.ts";
import { atFullSteps } from "../even-time.ts";
import type { Problem } from "../page.ts";
import { registerPage } from "../pages/register.ts";
import { verifyEmailPage } from "../pages/verify-email.ts";
import { paths } from "../paths.ts";
import { provePassword } from "../prove.ts";
import { type Route, type RouteParts, toProblems, valueOf, writing } from "../route.ts";
import { PageRefused, type Shown, type Visit } from "../visit.ts";

const stepMs = 400;

/**
 * Registration, and the proof of the e-mail address. Whether a name is taken, only the mail tells: whoever has it gets
 * one, and whoever tried waits for a code that does not come (D50).
 */
export function registerRoutes(parts: RouteParts): Route[] {
  const { db, deps, advance, functions, people, call, mayTell, policyOf, passwordRulesOf, appOf } =
    parts;
  const instance = instanceFacts(db);

  async function homeOf(visit: Visit): Promise<string> {
    return (
      visit.place.organizationId ?? (await instance(visit.at.instanceId)).defaultOrganizationId
    );
  }

  async function requireAllowed(visit: Visit): Promise<void> {
    const organizationId = await homeOf(visit);
    const policy = await policyOf({ instanceId: visit.at.instanceId, organizationId });
    if (!policy.allowRegister) throw new PageRefused("REGISTRATION_OFF", 403);
  }

  const typedIn = (visit: Visit) => ({
    givenName: valueOf(visit, "given_name"),
    familyName: valueOf(visit, "family_name"),
    email: valueOf(visit, "email"),
    loginName: valueOf(visit, "login_name"),
  });

  async function show(visit: Visit, shown: Shown) {
    const { request } = visit.flow.data;
    const app = request && (await appOf(visit.at.instanceId, request.clientId));
    const view = {
      ...(app === undefined ? {} : { app: app.name }),
      values: typedIn(visit),
      rules: await passwordRulesOf(visit.place),
      allowsPassword: true,
      allowsPasskey: false,
    };
    return visit.show((page) => registerPage(page, view), { ...shown, self: paths.register });
  }

  function missingIn(visit: Visit): readonly Problem[] {
    const names = ["given_name", "family_name", "email", "login_name", "new_password"];
    return names
      .filter((name) => valueOf(visit, name) === "")
      .map((field) => ({ code: "FIELD_MISSING", field }));
  }

  /** Makes the account and sends the code; to whoever has the name already it says so. */
  async function register(visit: Visit): Promise<readonly Problem[]> {
    const { givenName, familyName, email, loginName: username } = typedIn(visit);
    const organizationId = await homeOf(visit);
    const password = visit.form.get("new_password") ?? "";
    const data = {
      given_name: givenName,
      family_name: familyName,
      preferred_language: visit.language,
    };
    const contact = {
      email: { address: email, verification: { case: "sendCode", value: {} } },
    } as const;
    const authenticators = { password: { type: { case: "password", value: password } } } as const;
    const begun = { loginName: username, isChosen: true, mustVerifyEmail: true };
    deps.budgets.spend("registrations", sourceOf(visit.at.peer));
    try {
      const described = { username, organization_id: organizationId, data, email };
      const keep = await functions.creating(visit.at, described);
      const made = await call(
        UserService.method.createUser,
        { user: { username, data, contact, authenticators } },
        visit.asService(organizationId),
      );
      const userId = made.details?.id ?? "";
      await keep(userId);
      await functions.created(visit.at, { id: userId, organizationId });
      await visit.save({ ...visit.flow.data, ...begun, userId });
      await provePassword(parts, visit, password);
      return [];
    } catch (error) {
      if (!(error instanceof DomainError) || error.reason !== "USERNAME_TAKEN") {
        return toProblems(error);
      }
      await tellOwner(visit, username, organizationId);
      const { userId: _, sessionId: __, ...rest } = visit.flow.data;
      await visit.save({ ...rest, ...begun });
      return [];
    }
  }

  async function tellOwner(visit: Visit, username: string, organizationId: string): Promise<void> {
    const { instanceId } = visit.at;
    const owner = await people.find(instanceId, username, organizationId);
    if (owner === undefined) return;
    const user = { instanceId, userId: owner };
    if (!(await mayTell(user, "registered"))) return;
    await deps.events.transact(writing(visit, "login"), async (tx) =>
      tellNews(tx, deps.newId, user, { news: "registered" }),
    );
  }

  async function showVerify(visit: Visit, shown: Shown) {
    if (visit.flow.data.mustVerifyEmail !== true) return advance.next(visit);
    const address = visit.flow.data.email ?? "";
    const code = visit.query.get("code");
    const view = { address, ...(code === undefined ? {} : { code }) };
    return visit.show((page) => verifyEmailPage(page, view), { ...shown, self: paths.verifyEmail });
  }

  /** A new code, where an address waits for one. */
  async function resend(visit: Visit): Promise<Shown> {
    const sent = { notice: "CODE_SENT" } as const;
    const { user } = (await advance.sessionOf(visit)) ?? {};
    if (user === undefined) return sent;
    const { instanceId } = visit.at;
    if (!(await mayTell({ instanceId, userId: user.id }, "email.verification"))) {
      return { problems: [{ code: "RATE_LIMITED" }] };
    }
    const request = { id: user.id, code: { delivery: { case: "sendCode", value: {} } } } as const;
    await call(UserService.method.resendContactEmailCode, request, visit.asService());
    return sent;
  }

  async function verify(visit: Visit): Promise<readonly Problem[]> {
    const { user } = (await advance.sessionOf(visit)) ?? {};
    const wrong = [{ code: "CODE_INVALID", field: "code" }] as const;
    const verificationCode = valueOf(visit, "code");
    if (user === undefined || verificationCode === "") return wrong;
    try {
      const request = { id: user.id, verificationCode };
      await call(UserService.method.verifyContactEmail, request, asUser(visit, user));
      return [];
    } catch (error) {
      toProblems(error);
      return wrong;
    }
  }

  return [
    {
      path: paths.register,
      async get(visit) {
        if (!visit.hasFlow) await visit.save({ begin: "create" });
        await requireAllowed(visit);
        return show(visit, {});
      },
      async post(visit) {
        await requireAllowed(visit);
        const missing = missingIn(visit);
        if (missing.length > 0) return show(visit, { problems: missing });
        await visit.save({ ...visit.flow.data, email: valueOf(visit, "email") });
        const problems = await atFullSteps(stepMs, () => register(visit));
        return problems.length > 0 ? show(visit, { problems }) : visit.go(paths.verifyEmail);
      },
    },
    {
      path: paths.verifyEmail,
      get: (visit) => showVerify(visit, {}),
      async post(visit) {
        if (valueOf(visit, "resend") !== "") {
          return showVerify(visit, await atFullSteps(stepMs, () => resend(visit)));
        }
        const problems = await atFullSteps(stepMs, () => verify(visit));
        if (problems.length > 0) return showVerify(visit, { problems });
        const { mustVerifyEmail: _, ...rest } = visit.flow.data;
        await visit.save(rest);
        return advance.next(visit);
      },
    },
  ];
}
