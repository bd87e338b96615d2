import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import type { Problem } from "../../login/page.ts";
import { provePassword } from "../../login/prove.ts";
import { missingIn, type Route } from "../../login/route.ts";
import { type AccountParts, type Own, ownRoute } from "../own.ts";
import { passwordPage } from "../pages/password.ts";
import { accountPaths } from "../paths.ts";
import { tried } from "../problems.ts";

/** The password. All sessions end with the one before; the person goes on in a new one, by the new password. */
export function passwordRoute(parts: AccountParts): Route {
  async function change(own: Own): Promise<readonly Problem[]> {
    const { form } = own.context;
    const [current, wanted] = [form.get("password") ?? "", form.get("new_password") ?? ""];
    if (current === wanted) return [{ code: "PASSWORD_UNCHANGED", field: "new_password" }];
    const newPassword = {
      type: { case: "password", value: wanted },
      verification: { case: "currentPassword", value: current },
    } as const;
    const problems = await tried(() =>
      own.call(UserService.method.setPassword, { id: own.user.id, newPassword }),
    );
    return problems.map((problem) =>
      problem.code === "INVALID_CREDENTIALS"
        ? { code: "PASSWORD_WRONG", field: "password" }
        : problem,
    );
  }

  return ownRoute(parts, {
    path: accountPaths.password,
    async get(own) {
      const { user } = await own.call(UserService.method.getUser, { id: own.user.id });
      const hasPassword = user?.user?.authenticators?.password !== undefined;
      const { instanceId } = own.context.at;
      const { organizationId } = own.user;
      const rules = await parts.passwordRulesOf({ instanceId, organizationId });
      return own.show((page) => passwordPage(page, { hasPassword, rules }));
    },
    async post(own) {
      const { context, user, account } = own;
      const missing = missingIn(context, ["password", "new_password"]);
      const problems = missing.length > 0 ? missing : await change(own);
      if (problems.length > 0) return context.again({ problems });
      await context.renew(context.agent.sessionIds);
      const returnTo = `${accountPaths.security}?${new URLSearchParams({ notice: "PASSWORD_CHANGED" })}`;
      await context.save({ loginName: account.loginName, userId: user.id, returnTo });
      await provePassword(parts, context, context.form.get("new_password") ?? "");
      return parts.advance.next(context);
    },
  });
}
