import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { type Route, valueOf } from "../../login/route.ts";
import { codesAsFile } from "../../login/routes/recovery-codes.ts";
import type { LoginAnswer } from "../../login/web.ts";
import { type AccountParts, type Own, ownRoute } from "../own.ts";
import { newRecoveryCodesPage, recoveryCodesPage } from "../pages/recovery-codes.ts";
import { accountPaths } from "../paths.ts";
import { tried } from "../problems.ts";
import { waysIn } from "../ways-in.ts";

const path = accountPaths.recoveryCodes;
const purposeOf = (flowId: string, sessionId: string) =>
  `own recovery codes ${flowId} ${sessionId}`;

/** New recovery codes: they are shown until the user confirms that they have saved them. */
export function recoveryCodesRoute(parts: AccountParts): Route {
  const { secrets } = parts;

  async function make(own: Own): Promise<LoginAnswer> {
    const { context, session, user } = own;
    let codes: readonly string[] = [];
    const problems = await tried(async () => {
      const made = await own.call(UserService.method.generateRecoveryCodes, { id: user.id });
      codes = made.recoveryCodes;
    });
    if (problems.length > 0) return context.again({ problems });
    const { id } = await context.persisted();
    const clear = Buffer.from(JSON.stringify(codes));
    const sealed = await secrets.sealText(context.at.instanceId, purposeOf(id, session.id), clear);
    await own.keep({ recoveryCodes: sealed });
    return context.go(path);
  }

  async function unsaved({ context, session, work }: Own): Promise<readonly string[] | undefined> {
    if (work?.recoveryCodes === undefined) return undefined;
    const purpose = purposeOf(context.flow.id, session.id);
    const clear = await secrets.openText(context.at.instanceId, purpose, work.recoveryCodes);
    return clear === undefined ? undefined : JSON.parse(Buffer.from(clear).toString());
  }

  return ownRoute(parts, {
    path,
    async get(own) {
      const codes = await unsaved(own);
      if (codes !== undefined && own.context.query.get("as") === "file") {
        return codesAsFile(own.account.loginName, codes);
      }
      if (codes !== undefined) return own.show((page) => newRecoveryCodesPage(page, { codes }));
      const left = (await waysIn(own))?.recoveryCodes?.remaining;
      return own.show((page) => recoveryCodesPage(page, { left }));
    },
    async post(own) {
      if (valueOf(own.context, "saved") === "") return make(own);
      if (own.work !== undefined) await own.keep({});
      return own.done(path, "CODES_SAVED");
    },
  });
}
