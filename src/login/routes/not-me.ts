import { createDenials } from "../../resources/user/index.ts";
import { constantTime } from "../../constant-time.ts";
import { asGuess, counted } from "../counted.ts";
import { notMePage } from "../pages/not-me.ts";
import type { PageContext } from "../page-context.ts";
import { paths } from "../paths.ts";
import { type Route, type RouteParts, toProblems, valueOf } from "../route.ts";
import type { LoginAnswer } from "../web.ts";
import { writing } from "../writing.ts";

/**
 * The answer to a notice, in whichever browser: "it was not me" (L5). It ends all sessions and leads on to a new password. Whoever
 * was reached at an address that is the account's no more is sent none: it would go to whoever changed the address.
 */
export function notMeRoute(parts: RouteParts): Route {
  const { always } = constantTime(300);
  const { users, policyOf } = parts;
  const denials = createDenials(parts.deps);

  const given = (context: PageContext, name: string) =>
    valueOf(context, name) || (context.query.get(name) ?? "");

  async function follow(context: PageContext, userId: string) {
    const link = {
      userId,
      noticeId: valueOf(context, "notice_id"),
      code: valueOf(context, "code"),
    };
    try {
      return await denials.follow(counted(writing(context, "system:login")), link);
    } catch (error) {
      toProblems(error);
      return undefined;
    }
  }

  async function lead(context: PageContext, userId: string): Promise<LoginAnswer> {
    const { loginName } = await users.account(context.at.instanceId, userId);
    // Whatever this browser was in the middle of was not this account's.
    await context.save({ loginName, userId });
    const { hidePasswordReset } = await policyOf(context.tenant);
    return hidePasswordReset
      ? context.go(paths.loginName, { notice: "SIGNED_OUT_EVERYWHERE" })
      : context.go(paths.forgotPassword, { notice: "SIGNED_OUT_EVERYWHERE" });
  }

  return {
    path: paths.notMe,
    async get(context) {
      if (!context.hasFlow) await context.save({});
      const noticeId = given(context, "notice_id");
      const view = { userId: given(context, "user_id"), noticeId, code: given(context, "code") };
      return context.show((page) => notMePage(page, view), { isUnframed: true });
    },
    async post(context) {
      const userId = valueOf(context, "user_id");
      const told = await always(() =>
        asGuess(
          parts,
          context,
          () => follow(context, userId),
          (found) => found !== undefined,
        ),
      );
      if (told === undefined) return context.again({ problems: [{ code: "LINK_USED" }] });
      return told === "former"
        ? context.go(paths.loginName, { notice: "SIGNED_OUT_TELL" })
        : lead(context, userId);
    },
  };
}
