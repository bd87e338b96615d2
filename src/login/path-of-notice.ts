import type { DueNotice } from "../resources/user/index.ts";
import { paths } from "./paths.ts";

/** The page that a message leads to, with what the page asks for. */
export function pathOfNotice({
  topic,
  user,
  code = "",
  codeId = "",
  sessionId = "",
}: DueNotice): string | undefined {
  const { id, loginName } = user;
  switch (topic) {
    case "initialization":
    case "password.reset":
      return at(paths.resetPassword, { login_name: loginName, code });
    case "email.verification":
      return at(paths.confirmEmail, { user_id: id, code });
    case "email.login":
      return at(paths.emailLink, { login: sessionId, code });
    case "passkey.registration":
      return passkeyPage({ userId: id, codeId, code });
    case "registered":
      return at(paths.forgotPassword, {});
    case "password.changed":
    case "email.changed":
    case "browser.new":
    case "factor.added":
    case "factor.removed":
    case "recovery_code.used":
    case "recovery_codes.made":
    case "offline.allowed":
      return at(paths.notMe, { user_id: id, notice_id: codeId, code });
    case "domain.claimed":
    case "recovery.link":
    case "owners.ending":
      return paths.begin;
    case "otp":
    case "phone.verification":
    case "phone.changed":
    case "registration":
      return undefined;
  }
}

/** The page that a way back in opens, which is made on the machine (J21). */
export const recoverPath = (link: { userId: string; code: string }): string =>
  at(paths.recover, { user_id: link.userId, code: link.code });

/** The page that an invitation to make a passkey opens. */
export const passkeyPage = (invited: { userId: string; codeId: string; code: string }): string =>
  at(paths.registerPasskey, {
    user_id: invited.userId,
    code_id: invited.codeId,
    code: invited.code,
  });

const at = (path: string, query: Record<string, string>) => `${path}?${new URLSearchParams(query)}`;
