import type { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { type Scope, writeContext } from "../../../authz/context.ts";
import type { Handlers } from "../../../authz/service.ts";
import { invalidArgument } from "../../../errors.ts";
import { mayOn } from "../../../authz/tenancy.ts";
import { permissionMissing } from "../../../authz/permissions.ts";
import { authenticatorsOf, canLogIn } from "../authenticator/authenticators.ts";
import { changingUser, type UserInUnit } from "../change.ts";
import { initialization, passwordReset } from "../code-kinds.ts";
import { codeInvalid, type Codes } from "../codes.ts";
import { requireContact, verifyContact } from "../contact.ts";
import { toDelivery } from "../convert.ts";
import type { Credentials } from "../credentials.ts";
import { userEvents } from "../events.ts";
import { requirePerson } from "../person.ts";
import { tellNews } from "../notice.ts";
import { requireThere, user } from "../user.ts";
import { requireVouching } from "../vouch.ts";
import { settingOf, within } from "./set.ts";
import { invalidCredentials } from "./policy.ts";

const field = "new_password";
const subject = "password";

export function passwordHandlers(credentials: Credentials) {
  const { events, newId } = credentials.deps;
  const { codes, checkPassword } = credentials;
  const change = changingUser(credentials.deps);

  /** @throws INVALID_ARGUMENT INVALID_CREDENTIALS */
  async function requireCurrent(scope: Scope, id: string, password: string): Promise<void> {
    const { isRight } = await checkPassword(writeContext(scope), id, password);
    if (isRight) return;
    const description = "is not the password of the user, or was tried too often";
    throw invalidCredentials(`${field}.current_password`, description);
  }

  return {
    async setPassword({ id, newPassword }, scope) {
      if (newPassword === undefined) throw new Error("validation requires the password");
      const { verification } = newPassword;
      const setting = settingOf(credentials, scope.instanceId, newPassword, within(field));
      // Before anything is tried: what is refused anyway spends neither a code nor an attempt.
      const { state: first } = await events.load(user, scope.instanceId, id);
      requirePerson(first);
      const mayWrite = mayOn(scope, scope.policy.act, first);
      if (!mayWrite) {
        // Whose hash it is, the policy cannot be asked.
        if (newPassword.type.case === "hash") throw permissionMissing(scope.policy.act);
        if (verification.case === undefined) throw proofMissing();
      }
      const code = verification.case === "verificationCode" ? verification.value : undefined;
      // Only who has the code is told of the policy: where there is nobody, there is none (J13).
      if (code === undefined) await setting.check(first);
      if (verification.case === "currentPassword") {
        await requireCurrent(scope, id, verification.value);
      }

      const { isProven, ...answer } = await change(scope, id, async (one) => {
        const { tx, loaded, ref, state } = one;
        requirePerson(state);
        const hadOne = authenticatorsOf(state.authenticators, "password").length > 0;
        // Whoever could not log in before expects it.
        const news = hadOne ? "password.changed" : canLogIn(state, tx.now) && "factor.added";
        const proven =
          code === undefined ||
          (await codes.spend(tx, ref, passwordReset, { code, subject })) !== undefined ||
          (!hadOne && (await acceptInvitation(codes, one, code)));
        // What is refused here writes nothing, and the code still counts.
        if (proven && code !== undefined) await setting.check(requireThere(loaded.state));
        if (proven) await setting.set(one);
        if (proven && news !== false) tellNews(tx, newId, ref, { news });
        return { isProven: proven };
      });
      if (!isProven) throw codeInvalid(`${field}.verification_code`);
      return answer;
    },

    requestPasswordReset: ({ id, medium }, scope) =>
      change(scope, id, async ({ tx, ref, state, record }) => {
        requirePerson(state);
        const way = medium?.medium.case ?? "sendEmail";
        if (way === "returnCode") requireVouching(scope, { ...state, userId: id });
        if (way === "sendEmail") requireContact(state, "email");
        if (way === "sendSms") requireContact(state, "phone");
        const delivery = toDelivery(way === "sendSms" ? "sms" : "email", medium?.medium);
        const verificationCode = await codes.issue(tx, ref, passwordReset, { subject, delivery });
        record([userEvents["human.password.code.added"]({})]);
        return { verificationCode };
      }),
  } satisfies Partial<Handlers<typeof UserService>>;
}

/** The code of an invitation came by e-mail: it proves the address too. */
async function acceptInvitation(
  codes: Codes,
  { tx, ref, loaded, record }: UserInUnit,
  code: string,
): Promise<boolean> {
  const { email } = loaded.state ?? {};
  if (email === undefined) return false;
  const right = await codes.spend(tx, ref, initialization, { code, subject: email.address });
  if (right !== undefined && (!email.isVerified || email.reach !== undefined))
    record(verifyContact("email", right));
  return right !== undefined;
}

const proofMissing = () =>
  invalidArgument(
    "PASSWORD_PROOF_MISSING",
    "prove that the password may be set: give the current one, or a code that was made to reset it",
    {
      violations: ["current_password", "verification_code"].map((name) => ({
        field: `${field}.${name}`,
        reason: "PASSWORD_PROOF_MISSING",
        description: "one of these is needed",
      })),
    },
  );
