import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { asUser } from "../as-user.ts";
import type { Problem } from "../page.ts";
import { changePasswordPage } from "../pages/change-password.ts";
import { paths } from "../paths.ts";
import { provePassword } from "../prove.ts";
import { type Route, type RouteParts, toProblems } from "../route.ts";
import type { Shown, Visit } from "../visit.ts";

/** The password was right and must be another one before the login goes on. */
export function changePasswordRoute(parts: RouteParts): Route {
  const { advance, people, call, passwordRulesOf } = parts;

  async function show(visit: Visit, shown: Shown) {
    const { userId, mustChangePassword, sessionId } = visit.flow.data;
    const id = (await advance.sessionOf(visit))?.user.id ?? userId;
    if (mustChangePassword !== true || id === undefined) return advance.next(visit);
    const account =
      sessionId === undefined
        ? { loginName: visit.flow.data.loginName ?? "" }
        : await people.account(visit.at.instanceId, id);
    const rules = await passwordRulesOf(visit.place);
    const view = { account, why: "required", asksCurrent: true, rules } as const;
    return visit.show((page) => changePasswordPage(page, view), {
      ...shown,
      self: paths.changePassword,
    });
  }

  async function change(visit: Visit, id: string): Promise<readonly Problem[]> {
    const organizationId = await people.organizationOf(visit.at.instanceId, id);
    const current = visit.form.get("password") ?? "";
    const password = visit.form.get("new_password") ?? "";
    if (organizationId === undefined) return [{ code: "INVALID_CREDENTIALS", field: "password" }];
    if (current === password) return [{ code: "PASSWORD_UNCHANGED", field: "new_password" }];
    const newPassword = {
      type: { case: "password", value: password },
      verification: { case: "currentPassword", value: current },
    } as const;
    try {
      const caller = asUser(visit, { id, organizationId });
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
    get: (visit) => show(visit, {}),
    async post(visit) {
      const id = (await advance.sessionOf(visit))?.user.id ?? visit.flow.data.userId;
      if (visit.flow.data.mustChangePassword !== true || id === undefined) {
        return advance.next(visit);
      }
      const problems = await change(visit, id);
      if (problems.length > 0) return visit.again({ problems });
      // All his sessions have ended: a new one, by the password that he has just set.
      const { mustChangePassword: _, sessionId: __, ...rest } = visit.flow.data;
      await visit.renew(visit.agent.sessionIds);
      await visit.save({ ...rest, userId: id });
      await provePassword(parts, visit, visit.form.get("new_password") ?? "");
      return advance.next(visit);
    },
  };
}
