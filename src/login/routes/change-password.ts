import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { asUser } from "../as-user.ts";
import type { Problem } from "../page.ts";
import { changePasswordPage } from "../pages/change-password.ts";
import { paths } from "../paths.ts";
import { provePassword } from "../prove.ts";
import { missingIn, type Route, type RouteParts, toProblems } from "../route.ts";
import type { Shown, PageContext } from "../page-context.ts";

/** The password was right and must be another one before the login goes on. */
export function changePasswordRoute(parts: RouteParts): Route {
  const { advance, users, call, passwordRulesOf } = parts;

  async function show(context: PageContext, shown: Shown) {
    const { userId, mustChangePassword, sessionId } = context.flow.data;
    const id = (await advance.sessionOf(context))?.user.id ?? userId;
    if (mustChangePassword !== true || id === undefined) return advance.next(context);
    const account =
      sessionId === undefined
        ? { loginName: context.flow.data.loginName ?? "" }
        : await users.account(context.at.instanceId, id);
    const rules = await passwordRulesOf(context.tenant);
    const view = { account, why: "required", asksCurrent: true, rules } as const;
    return context.show((page) => changePasswordPage(page, view), {
      ...shown,
      self: paths.changePassword,
    });
  }

  async function change(context: PageContext, id: string): Promise<readonly Problem[]> {
    const organizationId = await users.organizationOf(context.at.instanceId, id);
    const current = context.form.get("password") ?? "";
    const password = context.form.get("new_password") ?? "";
    if (organizationId === undefined) return [{ code: "INVALID_CREDENTIALS", field: "password" }];
    if (current === password) return [{ code: "PASSWORD_UNCHANGED", field: "new_password" }];
    const newPassword = {
      type: { case: "password", value: password },
      verification: { case: "currentPassword", value: current },
    } as const;
    try {
      const caller = asUser(context, { id, organizationId });
      await call(UserService.method.setPassword, { id, newPassword }, caller);
      return [];
    } catch (error) {
      return toProblems(error).map((problem) =>
        problem.code === "INVALID_CREDENTIALS" ? { ...problem, field: "password" } : problem,
      );
    }
  }

  return {
    path: paths.changePassword,
    get: (context) => show(context, {}),
    async post(context) {
      const id = (await advance.sessionOf(context))?.user.id ?? context.flow.data.userId;
      if (context.flow.data.mustChangePassword !== true || id === undefined) {
        return advance.next(context);
      }
      const missing = missingIn(context, ["password", "new_password"]);
      const problems = missing.length > 0 ? missing : await change(context, id);
      if (problems.length > 0) return context.again({ problems });
      // All sessions of the user have ended: a new one, by the password that they have just set.
      const { mustChangePassword: _, sessionId: __, ...rest } = context.flow.data;
      await context.renew(context.agent.sessionIds);
      await context.save({ ...rest, userId: id });
      await provePassword(parts, context, context.form.get("new_password") ?? "");
      return advance.next(context);
    },
  };
}
