import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { missingIn, type Route, valueOf } from "../../login/route.ts";
import type { LoginAnswer } from "../../login/web.ts";
import { createTotpStore } from "../../resources/user/index.ts";
import { type AccountParts, type Own, ownRoute } from "../own.ts";
import { authenticatorPage, newAuthenticatorPage } from "../pages/authenticator.ts";
import { accountPaths } from "../paths.ts";
import { taken, tried } from "../problems.ts";
import { waysIn } from "../ways-in.ts";

const { method } = UserService;
const path = accountPaths.authenticator;

/** The authenticator app: set up and removed. */
export function authenticatorRoute(parts: AccountParts): Route {
  const totps = createTotpStore(parts.secrets);

  async function begin(own: Own): Promise<LoginAnswer> {
    const made = await own.call(method.startTOTPRegistration, { id: own.user.id });
    const uri = new URL(made.uri);
    uri.searchParams.delete("secret");
    await own.keep({ totp: { totpId: made.totpId, uri: uri.href } });
    return own.context.go(path);
  }

  async function verify(own: Own): Promise<LoginAnswer> {
    const { totp } = own.work ?? {};
    if (totp === undefined) return own.done(path);
    const missing = missingIn(own.context, ["code"]);
    if (missing.length > 0) return own.context.again({ problems: missing });
    const code = valueOf(own.context, "code").replaceAll(" ", "");
    const request = { id: own.user.id, totpId: totp.totpId, code };
    const problems = await tried(() => own.call(method.verifyTOTPRegistration, request));
    if (problems.length === 0) {
      await own.proved({ kind: "totp" });
      return own.done(path, "FACTOR_ADDED");
    }
    const wrong = problems.map((problem) =>
      problem.code === "RATE_LIMITED"
        ? problem
        : ({ code: "TOTP_INVALID", field: "code" } as const),
    );
    return own.context.again({ problems: wrong });
  }

  async function remove(own: Own, totpId: string): Promise<LoginAnswer> {
    const request = { id: own.user.id, totpId };
    const problems = await taken(() => own.call(method.removeTOTPAuthenticator, request));
    if (problems.length > 0) return own.context.again({ problems });
    return own.done(path, "REMOVED");
  }

  return ownRoute(parts, {
    path,
    async get(own) {
      const { totp } = own.work ?? {};
      const at = { instanceId: own.context.at.instanceId, userId: own.user.id };
      const secret = totp && (await totps.read(at, totp.totpId));
      const all = (await waysIn(own))?.totps ?? [];
      const isOpen = all.some(({ totpId, isVerified }) => totpId === totp?.totpId && !isVerified);
      if (totp !== undefined && secret !== undefined && isOpen) {
        const uri = new URL(totp.uri);
        uri.searchParams.set("secret", secret);
        return own.show((page) => newAuthenticatorPage(page, { uri: uri.href, secret }));
      }
      const ids = all.filter(({ isVerified }) => isVerified).map(({ totpId }) => totpId);
      return own.show((page) => authenticatorPage(page, { ids }));
    },
    post(own) {
      const id = valueOf(own.context, "remove");
      if (id !== "") return remove(own, id);
      return valueOf(own.context, "begin") === "" ? verify(own) : begin(own);
    },
  });
}
