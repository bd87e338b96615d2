import { recoveryLinks } from "../../resources/user/index.ts";
import { constantTime } from "../../constant-time.ts";
import { asGuess, counted } from "../counted.ts";
import type { Problem } from "../page.ts";
import { recoverPage } from "../pages/recover.ts";
import { paths } from "../paths.ts";
import { provePassword } from "../prove.ts";
import { missingIn, type Route, type RouteParts, toProblems, valueOf } from "../route.ts";
import { writing } from "../writing.ts";
import type { PageContext } from "../page-context.ts";

// As for all codes: nobody's answer takes as long.

/**
 * The way back in that was made on the machine (J21), in whichever browser: it sets a new password, logs in by it,
 * and goes on to a second factor where one is demanded.
 */
export function recoverRoute(parts: RouteParts): Route {
  const { always } = constantTime(300);
  const { advance, users, passwordRulesOf } = parts;
  const links = recoveryLinks(parts.deps);

  const given = (context: PageContext, name: string) =>
    valueOf(context, name) || (context.query.get(name) ?? "");

  async function show(context: PageContext) {
    const rules = await passwordRulesOf(context.tenant);
    const view = { userId: given(context, "user_id"), code: given(context, "code"), rules };
    return context.show((page) => recoverPage(page, view));
  }

  /** What is wrong; nothing when it is done. */
  async function follow(context: PageContext, userId: string): Promise<readonly Problem[]> {
    const code = valueOf(context, "code");
    const password = context.form.get("new_password") ?? "";
    if (userId === "" || code === "") return [{ code: "CODE_INVALID", field: "code" }];
    try {
      await links.follow(counted(writing(context, userId)), { userId, code, password });
      return [];
    } catch (error) {
      return toProblems(error);
    }
  }

  return {
    path: paths.recover,
    async get(context) {
      if (!context.hasFlow) await context.save({});
      return show(context);
    },
    async post(context) {
      const missing = missingIn(context, ["new_password"]);
      if (missing.length > 0) return context.again({ problems: missing });
      const userId = valueOf(context, "user_id");
      const problems = await always(() =>
        asGuess(
          parts,
          context,
          () => follow(context, userId),
          (wrong) => wrong.length === 0,
        ),
      );
      if (problems.length > 0) return context.again({ problems });
      await context.renew(context.agent.sessionIds);
      // Whatever this browser was in the middle of was not this account's.
      const { loginName } = await users.account(context.at.instanceId, userId);
      await context.save({ loginName, userId });
      await provePassword(parts, context, context.form.get("new_password") ?? "");
      return advance.next(context, "PASSWORD_CHANGED");
    },
  };
}
