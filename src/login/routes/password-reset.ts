import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { asUser } from "../as-user.ts";
import { constantTime } from "../../constant-time.ts";
import { forgotPasswordPage } from "../pages/forgot-password.ts";
import { resetPasswordPage } from "../pages/reset-password.ts";
import { paths } from "../paths.ts";
import { type Route, type RouteParts, toProblems, valueOf } from "../route.ts";
import type { Problem } from "../page.ts";
import { PageRefused, type Visit } from "../visit.ts";

// Long enough for all that is done for somebody: nobody's answer takes as long.

/** A new password by a code that is sent. Whether there is such a user, nothing tells (D50). */
export function passwordResetRoutes(parts: RouteParts): Route[] {
  const { always } = constantTime(300);
  const { advance, people, call, policyOf, passwordRulesOf, mayTell } = parts;

  async function requireAllowed(visit: Visit): Promise<void> {
    if ((await policyOf(visit.place)).hidePasswordReset) throw new PageRefused("NOT_FOUND", 404);
  }

  async function send(visit: Visit, loginName: string): Promise<void> {
    const { instanceId } = visit.at;
    const userId = await people.find(instanceId, loginName, visit.place.organizationId);
    if (userId === undefined) return;
    const contacts = await people.contacts(instanceId, userId);
    if (contacts?.email === undefined) return;
    if (!(await mayTell({ instanceId, userId }, "password.reset"))) return;
    const request = { id: userId, medium: { medium: { case: "sendEmail", value: {} } } } as const;
    await call(UserService.method.requestPasswordReset, request, visit.asService());
  }

  function showForgot(visit: Visit) {
    const { loginName } = visit.flow.data;
    const view = loginName === undefined ? {} : { loginName };
    return visit.show((page) => forgotPasswordPage(page, view), {
      self: paths.forgotPassword,
    });
  }

  async function showReset(visit: Visit) {
    const loginName = valueOf(visit, "login_name") || (visit.query.get("login_name") ?? "");
    if (loginName === "") return visit.go(paths.forgotPassword);
    const rules = await passwordRulesOf(visit.place);
    const code = valueOf(visit, "code") || visit.query.get("code");
    const view = { loginName, rules, ...(code === undefined ? {} : { code }) };
    const self = `${paths.resetPassword}?${new URLSearchParams({ login_name: loginName })}`;
    return visit.show((page) => resetPasswordPage(page, view), { self });
  }

  /** What is wrong with the new password or its code; nothing when it is set. */
  async function reset(visit: Visit): Promise<readonly Problem[]> {
    const { instanceId } = visit.at;
    const loginName = valueOf(visit, "login_name");
    const code = valueOf(visit, "code");
    const password = visit.form.get("new_password") ?? "";
    const userId = await people.find(instanceId, loginName, visit.place.organizationId);
    const organizationId = userId && (await people.organizationOf(instanceId, userId));
    // Machines have no passwords.
    const contacts = userId && (await people.contacts(instanceId, userId));
    if (userId === undefined || organizationId === undefined || contacts === undefined) {
      return [{ code: "CODE_INVALID", field: "code" }];
    }
    const newPassword = {
      type: { case: "password", value: password },
      verification: { case: "verificationCode", value: code },
    } as const;
    try {
      const caller = asUser(visit, { id: userId, organizationId });
      await call(UserService.method.setPassword, { id: userId, newPassword }, caller);
      return [];
    } catch (error) {
      return toProblems(error);
    }
  }

  return [
    {
      path: paths.forgotPassword,
      async get(visit) {
        await requireAllowed(visit);
        if (!visit.hasFlow) await visit.save({});
        return showForgot(visit);
      },
      async post(visit) {
        await requireAllowed(visit);
        const loginName = valueOf(visit, "login_name");
        if (loginName === "") {
          const problems = [{ code: "FIELD_MISSING", field: "login_name" }] as const;
          return visit.again({ problems });
        }
        await always(() => send(visit, loginName));
        return visit.go(paths.resetPassword, { login_name: loginName });
      },
    },
    {
      path: paths.resetPassword,
      async get(visit) {
        await requireAllowed(visit);
        if (!visit.hasFlow) await visit.save({});
        return showReset(visit);
      },
      async post(visit) {
        await requireAllowed(visit);
        if (valueOf(visit, "resend") !== "") {
          await always(() => send(visit, valueOf(visit, "login_name")));
          return visit.again({ notice: "CODE_SENT" });
        }
        const problems = await always(() => reset(visit));
        if (problems.length > 0) return visit.again({ problems });
        // Every session of his has ended with the old password.
        await visit.renew(visit.agent.sessionIds);
        const { sessionId: _, mustChangePassword: __, ...rest } = visit.flow.data;
        const loginName = valueOf(visit, "login_name");
        const userId = await people.find(
          visit.at.instanceId,
          loginName,
          visit.place.organizationId,
        );
        await visit.save({ ...rest, loginName, ...(userId === undefined ? {} : { userId }) });
        return advance.next(visit, "PASSWORD_CHANGED");
      },
    },
  ];
}
