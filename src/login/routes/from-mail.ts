import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { hostName } from "../../authz/host.ts";
import { DomainError } from "../../errors.ts";
import { asUser } from "../as-user.ts";
import { constantTime } from "../../constant-time.ts";
import { asGuess, counted } from "../counted.ts";
import { confirmEmailPage, invitedPasskeyPage } from "../pages/from-mail.ts";
import { setupPasskeyPage } from "../pages/setup-passkey.ts";
import { paths } from "../paths.ts";
import { missingIn, type Route, type RouteParts, toProblems, valueOf } from "../route.ts";
import type { PageContext } from "../page-context.ts";
import { usualPasskeyName } from "../usual-passkey-name.ts";
import { credentialOf } from "./passkey.ts";

// As for all codes that are sent: nobody's answer takes as long.

const refused = { problems: [{ code: "CODE_INVALID", field: "code" }] } as const;

/** Pages that mails lead to, in whichever browser: what they need stands in the link. */
export function fromMailRoutes(parts: RouteParts): Route[] {
  const { always } = constantTime(300);
  const { advance, call } = parts;

  async function begin(context: PageContext) {
    const domain = hostName(new URL(context.at.issuer).host);
    const code = { id: given(context, "code_id"), code: given(context, "code") };
    const isBegun = await isDone(parts, context, async () => {
      const user = await named(parts, context);
      if (user === undefined || code.id === "" || code.code === "") return undefined;
      const request = { id: user.id, registration: { domain, code } };
      const made = await call(
        UserService.method.startWebAuthNRegistration,
        request,
        counted(asUser(context, user)),
      );
      const options = made.publicKeyCredentialCreationOptions ?? {};
      const invited = { user, webAuthNId: made.webAuthNId, options };
      await context.save({ ...context.flow.data, invited });
      return invited;
    });
    return context.again(isBegun ? {} : refused);
  }

  return [
    {
      path: paths.confirmEmail,
      async get(context) {
        if (!context.hasFlow) await context.save({});
        return showConfirm(context);
      },
      async post(context) {
        const missing = missingIn(context, ["code"]);
        if (missing.length > 0) return context.again({ problems: missing });
        const verificationCode = valueOf(context, "code");
        const isRight = await always(() =>
          isDone(parts, context, async () => {
            const user = await named(parts, context);
            if (user === undefined || verificationCode === "") return undefined;
            const request = { id: user.id, verificationCode };
            const verify = UserService.method.verifyContactEmail;
            return call(verify, request, counted(asUser(context, user)));
          }),
        );
        return isRight ? advance.next(context, "EMAIL_VERIFIED") : context.again(refused);
      },
    },
    {
      path: paths.registerPasskey,
      async get(context) {
        if (!context.hasFlow) await context.save({});
        return showInvited(parts, context);
      },
      async post(context) {
        const credential = context.form.get("credential");
        return credential === undefined ? always(() => begin(context)) : create(parts, context);
      },
    },
  ];
}

/** The user whom a link names, as whom their code is spent; undefined for nobody. */
async function named({ users }: RouteParts, context: PageContext) {
  const id = given(context, "user_id");
  const organizationId =
    id === "" ? undefined : await users.organizationOf(context.at.instanceId, id);
  return organizationId === undefined ? undefined : { id, organizationId };
}

/** Whether a guess was right; whatever refuses it is a wrong code to who stands here. */
const isDone = (
  parts: RouteParts,
  context: PageContext,
  work: () => Promise<unknown>,
): Promise<boolean> =>
  asGuess(
    parts,
    context,
    () => whether(work),
    (isRight) => isRight,
  );

/** The invitation; once it was taken up here, the form that creates the passkey. */
async function showInvited({ users }: RouteParts, context: PageContext) {
  const { invited } = context.flow.data;
  if (invited !== undefined) {
    const account = await users.account(context.at.instanceId, invited.user.id);
    const asked = { account, options: invited.options, action: paths.registerPasskey };
    return context.show((page) => setupPasskeyPage(page, asked));
  }
  const code = { codeId: given(context, "code_id"), code: given(context, "code") };
  const view = { userId: given(context, "user_id"), ...code };
  return context.show((page) => invitedPasskeyPage(page, view));
}

async function create(parts: RouteParts, context: PageContext) {
  const { invited, ...rest } = context.flow.data;
  if (invited === undefined) return context.again(refused);
  const { user, webAuthNId } = invited;
  const publicKeyCredential = (await credentialOf(parts, context)) ?? {};
  const verify = { publicKeyCredential, webAuthNName: usualPasskeyName(context.language) };
  try {
    const request = { id: user.id, webAuthNId, verify };
    await parts.call(UserService.method.verifyWebAuthNRegistration, request, asUser(context, user));
  } catch (error) {
    const taken = toProblems(error).some(({ code }) => code === "WEB_AUTH_N_TAKEN");
    const code = taken ? "WEB_AUTH_N_TAKEN" : "WEB_AUTH_N_INVALID";
    return context.again({ problems: [{ code }] });
  }
  await context.save(rest);
  return parts.advance.next(context, "PASSKEY_CREATED");
}

const given = (context: PageContext, name: string) =>
  valueOf(context, name) || (context.query.get(name) ?? "");

/** Whether something came of it. */
async function whether(work: () => Promise<unknown>): Promise<boolean> {
  try {
    return (await work()) !== undefined;
  } catch (error) {
    if (!(error instanceof DomainError) || error.kind === "unavailable") throw error;
    return false;
  }
}

function showConfirm(context: PageContext) {
  const view = { userId: given(context, "user_id"), code: given(context, "code") };
  return context.show((page) => confirmEmailPage(page, view));
}
