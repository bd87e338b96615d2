import { constantTime } from "../../constant-time.ts";
import { passwordPage } from "../pages/password.ts";
import { paths } from "../paths.ts";
import { provePassword } from "../prove.ts";
import { noticeOf, problemsOf, type Route, type RouteParts } from "../route.ts";
import { PageRefused, type Shown, type Visit } from "../visit.ts";

/** The password. Unknown, locked, without a password, wrong: one answer in one time (D49). */
export function passwordRoute(parts: RouteParts): Route {
  const { refusals } = constantTime(250);
  const { advance, people, policyOf } = parts;

  async function show(visit: Visit, shown: Shown) {
    const { data } = visit.flow;
    const session = await advance.sessionOf(visit);
    if (session === undefined && data.loginName === undefined) return advance.next(visit);
    const policy = await policyOf(visit.place);
    // Of nobody and of somebody the page shows what was typed.
    const account =
      session === undefined
        ? { loginName: data.loginName ?? "" }
        : await people.account(visit.at.instanceId, session.user.id);
    const view = { account, allowsReset: !policy.hidePasswordReset };
    return visit.show((page) => passwordPage(page, view), { ...shown, self: paths.password });
  }

  return {
    path: paths.password,
    get: (visit) => show(visit, { ...problemsOf(visit), ...noticeOf(visit) }),
    async post(visit) {
      const { data } = visit.flow;
      if (data.sessionId === undefined && data.loginName === undefined) return advance.next(visit);
      const { allowUsernamePassword } = await policyOf(visit.place);
      if (!allowUsernamePassword) throw new PageRefused("NOT_FOUND", 404);
      const password = visit.form.get("password") ?? "";
      const proved = await refusals(() => provePassword(parts, visit, password));
      if (!proved.isRight) {
        return visit.again({ problems: [{ code: "INVALID_CREDENTIALS", field: "password" }] });
      }
      if (proved.mustChangePassword) {
        await visit.save({ ...visit.flow.data, mustChangePassword: true });
      }
      return advance.next(visit);
    },
  };
}
