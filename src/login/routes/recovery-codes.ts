import { setupRecoveryCodesPage } from "../pages/setup-recovery-codes.ts";
import { paths } from "../paths.ts";
import { requireSession, type Route, type RouteParts } from "../route.ts";
import { unsavedCodes } from "../unsaved-codes.ts";
import type { PageContext } from "../page-context.ts";
import type { LoginAnswer } from "../web.ts";

/**
 * Recovery codes that were just made: reload and Back show them again, in this flow, until their owner says that they have saved
 * them. Then they are gone.
 */
export function recoveryCodesRoute(parts: RouteParts): Route {
  const { advance, secrets, users } = parts;
  const unsaved = unsavedCodes(secrets);

  async function withCodes(
    context: PageContext,
    then: (codes: readonly string[], loginName: string) => Promise<LoginAnswer>,
  ): Promise<LoginAnswer> {
    const { user } = await requireSession(parts, context);
    const codes = await unsaved.read(context);
    if (codes === undefined) return advance.next(context);
    const { loginName } = await users.account(context.at.instanceId, user.id);
    return then(codes, loginName);
  }

  return {
    path: paths.setupRecoveryCodes,
    get: (context) =>
      withCodes(context, async (codes, loginName) => {
        if (context.query.get("as") === "file") return codesAsFile(loginName, codes);
        return context.show((page) => setupRecoveryCodesPage(page, { codes }), {
          self: paths.setupRecoveryCodes,
        });
      }),
    post: (context) =>
      withCodes(context, async () => {
        await unsaved.drop(context);
        return advance.next(context);
      }),
  };
}

/** The codes as a file that the browser saves, without scripts too. */
export const codesAsFile = (loginName: string, codes: readonly string[]): LoginAnswer => ({
  status: 200,
  headers: {
    "content-type": "text/plain; charset=utf-8",
    "content-disposition": 'attachment; filename="recovery-codes.txt"',
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
  },
  body: `${[loginName, "", ...codes].join("\r\n")}\r\n`,
});
