import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { asUser } from "../as-user.ts";
import { constantTime } from "../../constant-time.ts";
import { asGuess, counted, countMessage } from "../counted.ts";
import { forgotPasswordPage } from "../pages/forgot-password.ts";
import { resetPasswordPage } from "../pages/reset-password.ts";
import { paths } from "../paths.ts";
import { missingIn, noticeOf, type Route, type RouteParts, toProblems, valueOf } from "../route.ts";
import type { Problem } from "../page.ts";
import { PageRefused, type PageContext } from "../page-context.ts";

// Long enough for all that is done for somebody: nobody's answer takes as long.

const isNone = (problems: readonly Problem[]) => problems.length === 0;

/** A new password by a code that is sent. Whether there is such a user, nothing tells (D50). */
export function passwordResetRoutes(parts: RouteParts): Route[] {
  const { always } = constantTime(300);
  const { advance, users } = parts;

  return [
    {
      path: paths.forgotPassword,
      async get(context) {
        await requireAllowed(parts, context);
        if (!context.hasFlow) await context.save({});
        return showForgot(context);
      },
      async post(context) {
        await requireAllowed(parts, context);
        const loginName = valueOf(context, "login_name");
        const missing = missingIn(context, ["login_name"]);
        if (missing.length > 0) return context.again({ problems: missing });
        await context.save({ ...context.flow.data, forgotten: loginName });
        await always(() => send(parts, context, loginName));
        return context.go(paths.resetPassword, { login_name: loginName });
      },
    },
    {
      path: paths.resetPassword,
      async get(context) {
        await requireAllowed(parts, context);
        if (!context.hasFlow) await context.save({});
        return showReset(parts, context);
      },
      async post(context) {
        await requireAllowed(parts, context);
        if (valueOf(context, "resend") !== "") {
          await always(() => send(parts, context, valueOf(context, "login_name")));
          return context.again({ notice: "CODE_SENT" });
        }
        const missing = missingIn(context, ["code", "new_password"]);
        if (missing.length > 0) return context.again({ problems: missing });
        const problems = await always(() =>
          asGuess(parts, context, () => reset(parts, context), isNone),
        );
        if (problems.length > 0) return context.again({ problems });
        // Every session of the user has ended with the old password.
        await context.renew(context.agent.sessionIds);
        const { sessionId: _, mustChangePassword: __, ...rest } = context.flow.data;
        const loginName = valueOf(context, "login_name");
        const userId = await users.find(
          context.at.instanceId,
          loginName,
          context.tenant.organizationId,
        );
        await context.save({ ...rest, loginName, ...(userId === undefined ? {} : { userId }) });
        return advance.next(context, "PASSWORD_CHANGED");
      },
    },
  ];
}

async function requireAllowed({ policyOf }: RouteParts, context: PageContext): Promise<void> {
  if ((await policyOf(context.tenant)).hidePasswordReset) throw new PageRefused("NOT_FOUND", 404);
}

async function send(parts: RouteParts, context: PageContext, loginName: string): Promise<void> {
  const { users, call, mayTell } = parts;
  countMessage(parts, context);
  const { instanceId } = context.at;
  const userId = await users.find(instanceId, loginName, context.tenant.organizationId);
  if (userId === undefined) return;
  const contacts = await users.contacts(instanceId, userId);
  if (contacts?.email === undefined) return;
  if (!(await mayTell({ instanceId, userId }, "password.reset"))) return;
  const request = { id: userId, medium: { medium: { case: "sendEmail", value: {} } } } as const;
  await call(UserService.method.requestPasswordReset, request, counted(context.asService()));
}

async function showReset({ passwordRulesOf }: RouteParts, context: PageContext) {
  const loginName = valueOf(context, "login_name") || (context.query.get("login_name") ?? "");
  if (loginName === "") return context.go(paths.forgotPassword);
  const rules = await passwordRulesOf(context.tenant);
  const code = valueOf(context, "code") || context.query.get("code");
  const view = { loginName, rules, ...(code === undefined ? {} : { code }) };
  const self = `${paths.resetPassword}?${new URLSearchParams({ login_name: loginName })}`;
  return context.show((page) => resetPasswordPage(page, view), { self });
}

/** What is wrong with the new password or its code; nothing when it is set. */
async function reset(
  { users, call }: RouteParts,
  context: PageContext,
): Promise<readonly Problem[]> {
  const { instanceId } = context.at;
  const loginName = valueOf(context, "login_name");
  const code = valueOf(context, "code");
  const password = context.form.get("new_password") ?? "";
  const userId = await users.find(instanceId, loginName, context.tenant.organizationId);
  const organizationId = userId && (await users.organizationOf(instanceId, userId));
  // Machines have no passwords.
  const contacts = userId && (await users.contacts(instanceId, userId));
  if (userId === undefined || organizationId === undefined || contacts === undefined) {
    return [{ code: "CODE_INVALID", field: "code" }];
  }
  const newPassword = {
    type: { case: "password", value: password },
    verification: { case: "verificationCode", value: code },
  } as const;
  try {
    const caller = counted(asUser(context, { id: userId, organizationId }));
    await call(UserService.method.setPassword, { id: userId, newPassword }, caller);
    return [];
  } catch (error) {
    return toProblems(error);
  }
}

function showForgot(context: PageContext) {
  const { loginName: named, forgotten } = context.flow.data;
  const loginName = context.form.get("login_name") ?? forgotten ?? named;
  const view = loginName === undefined ? {} : { loginName };
  return context.show((page) => forgotPasswordPage(page, view), {
    ...noticeOf(context),
    self: paths.forgotPassword,
  });
}
