import { recoveryLinks } from "../../resources/user/index.ts";
import { constantTime } from "../../constant-time.ts";
import type { Problem } from "../page.ts";
import { recoverPage } from "../pages/recover.ts";
import { paths } from "../paths.ts";
import { provePassword } from "../prove.ts";
import { type Route, type RouteParts, toProblems, valueOf } from "../route.ts";
import { writing } from "../writing.ts";
import type { Visit } from "../visit.ts";

// As for all codes: nobody's answer takes as long.

/**
 * The way back in that was made on the machine (J21), in whichever browser: it sets a new password, logs in by it,
 * and goes on to a second factor where one is demanded.
 */
export function recoverRoute(parts: RouteParts): Route {
  const { always } = constantTime(300);
  const { advance, people, passwordRulesOf } = parts;
  const links = recoveryLinks(parts.deps);

  const given = (visit: Visit, name: string) =>
    valueOf(visit, name) || (visit.query.get(name) ?? "");

  async function show(visit: Visit) {
    const rules = await passwordRulesOf(visit.place);
    const view = { userId: given(visit, "user_id"), code: given(visit, "code"), rules };
    return visit.show((page) => recoverPage(page, view));
  }

  /** What is wrong; nothing when it is done. */
  async function follow(visit: Visit, userId: string): Promise<readonly Problem[]> {
    const code = valueOf(visit, "code");
    const password = visit.form.get("new_password") ?? "";
    if (userId === "" || code === "") return [{ code: "CODE_INVALID", field: "code" }];
    try {
      await links.follow(writing(visit, userId), { userId, code, password });
      return [];
    } catch (error) {
      return toProblems(error);
    }
  }

  return {
    path: paths.recover,
    async get(visit) {
      if (!visit.hasFlow) await visit.save({});
      return show(visit);
    },
    async post(visit) {
      const userId = valueOf(visit, "user_id");
      const problems = await always(() => follow(visit, userId));
      if (problems.length > 0) return visit.again({ problems });
      await visit.renew(visit.agent.sessionIds);
      // Whatever this browser was in the middle of was not this account's.
      const { loginName } = await people.account(visit.at.instanceId, userId);
      await visit.save({ loginName, userId });
      await provePassword(parts, visit, visit.form.get("new_password") ?? "");
      return advance.next(visit, "PASSWORD_CHANGED");
    },
  };
}
