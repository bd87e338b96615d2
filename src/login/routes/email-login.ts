import { openProvenSession, recordProof } from "../../resources/session/index.ts";
import { constantTime } from "../../constant-time.ts";
import { counted, countMessage } from "../counted.ts";
import { isEmailOffered } from "../email-offer.ts";
import { emailLinkElsewherePage, emailLoginPage } from "../pages/email-login.ts";
import { PageRefused, type PageContext, type Shown } from "../page-context.ts";
import { paths } from "../paths.ts";
import { missingIn, noticeOf, type Route, type RouteParts, valueOf } from "../route.ts";
import type { LoginAnswer } from "../web.ts";
import { writing } from "../writing.ts";

const codeForm = /^\d{6}$/;

/**
 * A code or a link by mail in the place of a password (L9). Each log-in has a code of its own, which counts in the browser that
 * began it. Whether there is such a user, whether they have proven an address and whether a mail was sent, nothing tells (J13).
 */
export function emailLoginRoutes(parts: RouteParts): Route[] {
  const { always } = constantTime(300);
  const { refusals } = constantTime(250);
  const { advance, flows } = parts;

  async function tryCode(context: PageContext, code: string): Promise<LoginAnswer> {
    const isRight = await refusals(() => prove(parts, context, code));
    if (isRight) return advance.next(context);
    return context.again({ problems: [{ code: "CODE_INVALID", field: "code" }] });
  }

  return [
    {
      path: paths.emailLogin,
      async get(context) {
        await requireOffered(parts, context);
        if (!(await isEmailOffered(parts, context))) return advance.next(context);
        const code = context.query.get("code") ?? "";
        const isOfLink = codeForm.test(code) && context.flow.data.isEmailSent === true;
        return isOfLink ? tryCode(context, code) : show(parts, context, noticeOf(context));
      },
      async post(context) {
        await requireOffered(parts, context);
        if (!(await isEmailOffered(parts, context))) return advance.next(context);
        if (valueOf(context, "resend") !== "" || valueOf(context, "send") !== "") {
          await context.save({ ...context.flow.data, isEmailSent: true });
          await always(() => send(parts, context));
          return valueOf(context, "resend") === ""
            ? context.go(paths.emailLogin)
            : context.again({ notice: "CODE_SENT" });
        }
        const missing = missingIn(context, ["code"]);
        if (missing.length > 0) return context.again({ problems: missing });
        return tryCode(context, valueOf(context, "code").replaceAll(" ", ""));
      },
    },
    {
      path: paths.emailLink,
      async get(context) {
        const login = context.query.get("login") ?? "";
        const typed = context.query.get("code") ?? "";
        const code = codeForm.test(typed) ? typed : undefined;
        const flow = await flows.load(context.at.instanceId, login);
        if (flow !== undefined && flow.agentId === context.agent.id && code !== undefined) {
          return context.go(paths.emailLogin, { flow: flow.address, code });
        }
        return context.show((page) => emailLinkElsewherePage(page, code), { hasForms: false });
      },
    },
  ];
}

const personOf = async (
  { advance }: RouteParts,
  context: PageContext,
): Promise<string | undefined> =>
  (await advance.sessionOf(context))?.user.id ?? context.flow.data.userId;

async function requireOffered({ policyOf }: RouteParts, context: PageContext): Promise<void> {
  const { firstFactors } = await policyOf(context.tenant);
  if (!firstFactors.includes("email")) throw new PageRefused("NOT_FOUND", 404);
}

/** In which the person is written of: a browser that they have logged in by may ask whatever strangers have asked. */
const writer = (context: PageContext, editorId: string) => ({
  ...counted(writing(context, editorId)),
  browser: context.agent.id,
});

async function send(parts: RouteParts, context: PageContext): Promise<void> {
  const { checks, events, knownBrowsers, mayTell, users } = parts;
  countMessage(parts, context);
  const { instanceId } = context.at;
  const userId = await personOf(parts, context);
  if (userId === undefined) return;
  if ((await users.organizationOf(instanceId, userId)) === undefined) return;
  const by = writer(context, "system:login");
  const known = await knownBrowsers.find(by, userId);
  const asker = { instanceId, userId, browserId: known?.browserId };
  if (!(await mayTell(asker, "email.login"))) return;
  const loginId = context.flow.id;
  const delivery = { channel: "email", sessionId: loginId } as const;
  await events.transact(by, (tx) =>
    checks.emailLogin.issue(tx, { instanceId, userId }, loginId, delivery),
  );
}

/** Whether the code is right; then the person has proven who they are. */
async function prove(parts: RouteParts, context: PageContext, code: string): Promise<boolean> {
  const { advance, checks, policyOf } = parts;
  const session = await advance.sessionOf(context);
  const userId = await personOf(parts, context);
  const by = writer(context, userId ?? "system:login");
  const tried = { loginId: context.flow.id, code };
  const isRight = await checks.emailLogin.check(writer(context, "system:login"), userId, tried);
  if (!isRight || userId === undefined) return false;
  const proof = { kind: "email" } as const;
  if (session !== undefined) {
    await recordProof(parts, by, { sessionId: session.id, proof });
    return true;
  }
  const { sessionLifetimeMs: lifetimeMs } = await policyOf(context.tenant);
  const sessionId = await openProvenSession(parts, by, { userId, proof, lifetimeMs });
  if (sessionId === undefined) return false;
  await context.save({ ...context.flow.data, sessionId });
  return true;
}

async function show(
  { advance, policyOf, users }: RouteParts,
  context: PageContext,
  shown: Shown,
): Promise<LoginAnswer> {
  const { data } = context.flow;
  const session = await advance.sessionOf(context);
  const { allowUsernamePassword: allowsPassword } = await policyOf(context.tenant);
  // Of nobody and of somebody the page shows what was typed.
  const account =
    session === undefined
      ? { loginName: data.loginName ?? "" }
      : await users.account(context.at.instanceId, session.user.id);
  const view = { account, isSent: data.isEmailSent === true, allowsPassword };
  return context.show((page) => emailLoginPage(page, view), { ...shown, self: paths.emailLogin });
}
