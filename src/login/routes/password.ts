import { constantTime } from "../../constant-time.ts";
import { isEmailOffered } from "../email-offer.ts";
import { passwordPage, preparesPasskeysField } from "../pages/password.ts";
import { paths } from "../paths.ts";
import { provePassword } from "../prove.ts";
import { missingIn, noticeOf, problemsOf, type Route, type RouteParts } from "../route.ts";
import { PageRefused, type Shown, type PageContext } from "../page-context.ts";

/** The password. Unknown, locked, without a password, wrong: one answer in one time (D49). */
export function passwordRoute(parts: RouteParts): Route {
  const { refusals } = constantTime(250);
  const { advance, users, policyOf } = parts;

  async function show(context: PageContext, shown: Shown) {
    const { data } = context.flow;
    const session = await advance.sessionOf(context);
    if (session === undefined && data.loginName === undefined) return advance.next(context);
    const policy = await policyOf(context.tenant);
    // Of nobody and of somebody the page shows what was typed.
    const account =
      session === undefined
        ? { loginName: data.loginName ?? "" }
        : await users.account(context.at.instanceId, session.user.id);
    const allowsEmail = await isEmailOffered(parts, context);
    const view = {
      account,
      allowsReset: !policy.hidePasswordReset,
      allowsEmail,
      preparesPasskeys: policy.preparePasskeys,
    };
    return context.show((page) => passwordPage(page, view), { ...shown, self: paths.password });
  }

  return {
    path: paths.password,
    get: (context) => show(context, { ...problemsOf(context), ...noticeOf(context) }),
    async post(context) {
      const { data } = context.flow;
      if (data.sessionId === undefined && data.loginName === undefined)
        return advance.next(context);
      const { allowUsernamePassword } = await policyOf(context.tenant);
      if (!allowUsernamePassword) throw new PageRefused("NOT_FOUND", 404);
      const missing = missingIn(context, ["password"]);
      if (missing.length > 0) return context.again({ problems: missing });
      const password = context.form.get("password") ?? "";
      const proved = await refusals(() => provePassword(parts, context, password));
      if (!proved.isRight) {
        return context.again({ problems: [{ code: "INVALID_CREDENTIALS", field: "password" }] });
      }
      const { mustChangePassword } = proved;
      const preparesPasskeys = context.form.get(preparesPasskeysField) === "true";
      if (mustChangePassword || preparesPasskeys) {
        await context.save({
          ...context.flow.data,
          ...(mustChangePassword ? { mustChangePassword } : {}),
          ...(preparesPasskeys ? { preparing: {} } : {}),
        });
      }
      return advance.next(context);
    },
  };
}
