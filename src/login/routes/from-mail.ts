import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { hostName } from "../../authz/host.ts";
import { DomainError } from "../../errors.ts";
import { asUser } from "../as-user.ts";
import { constantTime } from "../../constant-time.ts";
import { confirmEmailPage, invitedPasskeyPage } from "../pages/from-mail.ts";
import { setupPasskeyPage } from "../pages/setup-passkey.ts";
import { paths } from "../paths.ts";
import { type Route, type RouteParts, toProblems, valueOf } from "../route.ts";
import type { Visit } from "../visit.ts";
import { credentialOf } from "./passkey.ts";

// As for all codes that are sent: nobody's answer takes as long.
const usualName = "login";

/** Pages that mails lead to, in whichever browser: what they need stands in the link. */
export function fromMailRoutes(parts: RouteParts): Route[] {
  const { always } = constantTime(300);
  const { advance, people, call } = parts;

  const given = (visit: Visit, name: string) =>
    valueOf(visit, name) || (visit.query.get(name) ?? "");

  /** The user whom a link names, as whom his code is spent; undefined for nobody. */
  async function named(visit: Visit) {
    const id = given(visit, "user_id");
    const organizationId =
      id === "" ? undefined : await people.organizationOf(visit.at.instanceId, id);
    return organizationId === undefined ? undefined : { id, organizationId };
  }

  const refused = { problems: [{ code: "CODE_INVALID", field: "code" }] } as const;

  /** Whether it was done; whatever refuses it is a wrong code to who stands here. */
  async function isDone(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      if (!(error instanceof DomainError) || error.kind === "unavailable") throw error;
      return false;
    }
  }

  function showConfirm(visit: Visit) {
    const view = { userId: given(visit, "user_id"), code: given(visit, "code") };
    return visit.show((page) => confirmEmailPage(page, view));
  }

  /** The invitation; once it was taken up here, the form that creates the passkey. */
  async function showInvited(visit: Visit) {
    const { invited } = visit.flow.data;
    if (invited !== undefined) {
      const account = await people.account(visit.at.instanceId, invited.user.id);
      const asked = { account, options: invited.options, action: paths.registerPasskey };
      return visit.show((page) => setupPasskeyPage(page, asked));
    }
    const code = { codeId: given(visit, "code_id"), code: given(visit, "code") };
    const view = { userId: given(visit, "user_id"), ...code };
    return visit.show((page) => invitedPasskeyPage(page, view));
  }

  async function begin(visit: Visit) {
    const domain = hostName(new URL(visit.at.issuer).host);
    const code = { id: given(visit, "code_id"), code: given(visit, "code") };
    const user = await named(visit);
    if (user === undefined || code.id === "" || code.code === "") return visit.again(refused);
    const isBegun = await isDone(async () => {
      const request = { id: user.id, registration: { domain, code } };
      const made = await call(
        UserService.method.startWebAuthNRegistration,
        request,
        asUser(visit, user),
      );
      const options = made.publicKeyCredentialCreationOptions ?? {};
      const invited = { user, webAuthNId: made.webAuthNId, options };
      await visit.save({ ...visit.flow.data, invited });
    });
    return visit.again(isBegun ? {} : refused);
  }

  async function create(visit: Visit) {
    const { invited, ...rest } = visit.flow.data;
    if (invited === undefined) return visit.again(refused);
    const { user, webAuthNId } = invited;
    const publicKeyCredential = (await credentialOf(parts, visit)) ?? {};
    const verify = { publicKeyCredential, webAuthNName: usualName };
    try {
      const request = { id: user.id, webAuthNId, verify };
      await call(UserService.method.verifyWebAuthNRegistration, request, asUser(visit, user));
    } catch (error) {
      const taken = toProblems(error).some(({ code }) => code === "WEB_AUTH_N_TAKEN");
      const code = taken ? "WEB_AUTH_N_TAKEN" : "WEB_AUTH_N_INVALID";
      return visit.again({ problems: [{ code }] });
    }
    await visit.save(rest);
    return advance.next(visit, "PASSKEY_CREATED");
  }

  return [
    {
      path: paths.confirmEmail,
      async get(visit) {
        if (!visit.hasFlow) await visit.save({});
        return showConfirm(visit);
      },
      async post(visit) {
        const verificationCode = valueOf(visit, "code");
        const isRight = await always(async () => {
          const user = await named(visit);
          if (user === undefined || verificationCode === "") return false;
          const request = { id: user.id, verificationCode };
          const verify = UserService.method.verifyContactEmail;
          return isDone(() => call(verify, request, asUser(visit, user)));
        });
        return isRight ? advance.next(visit, "EMAIL_VERIFIED") : visit.again(refused);
      },
    },
    {
      path: paths.registerPasskey,
      async get(visit) {
        if (!visit.hasFlow) await visit.save({});
        return showInvited(visit);
      },
      async post(visit) {
        const credential = visit.form.get("credential");
        return credential === undefined ? always(() => begin(visit)) : create(visit);
      },
    },
  ];
}
