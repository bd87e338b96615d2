import type { PasswordResetMedium } from "#gen/idsvc/resources/user/v3alpha/authenticator_pb.ts";
import type { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { type Scope, writeContext } from "../../../authz/context.ts";
import type { Handlers } from "../../../authz/service.ts";
import { invalidArgument } from "../../../errors.ts";
import type { Loaded } from "../../../eventstore/eventstore.ts";
import type { Transaction } from "../../../eventstore/transaction.ts";
import { toDetails } from "../../object/details.ts";
import { mayOn } from "../../../authz/tenancy.ts";
import { permissionMissing } from "../../../authz/permissions.ts";
import { authenticatorsOf, canLogIn, requireAny } from "../authenticator/authenticators.ts";
import { initialization, passwordReset } from "../code-kinds.ts";
import { codeInvalid, type Codes, type Delivery } from "../codes.ts";
import { requireContact, verifyContact } from "../contact.ts";
import type { Credentials } from "../credentials.ts";
import { userEvents } from "../events.ts";
import { requirePerson } from "../person.ts";
import { tellNews } from "../notice.ts";
import { type User, user, userNotFound } from "../user.ts";
import { requireVouching } from "../vouch.ts";
import { settingOf, within } from "./set.ts";
import { invalidCredentials } from "./policy.ts";

export type PasswordMethods = "setPassword" | "requestPasswordReset" | "removePassword";

const field = "new_password";
const subject = "password";

export function passwordHandlers(
  credentials: Credentials,
): Pick<Handlers<typeof UserService>, PasswordMethods> {
  const { events, newId } = credentials.deps;
  const { codes, checkPassword, passwords } = credentials;

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

      const [written, isProven] = await events.transact(writeContext(scope), async (tx) => {
        const loaded = await tx.load(user, id);
        requirePerson(loaded.state);
        const at = { instanceId: scope.instanceId, userId: id };
        const hadOne = authenticatorsOf(loaded.state.authenticators, "password").length > 0;
        // Whoever could not log in before expects it.
        const news = hadOne ? "password.changed" : canLogIn(loaded.state, tx.now) && "factor.added";
        const proven =
          code === undefined ||
          (await codes.spend(tx, at, passwordReset, { code, subject })) !== undefined ||
          (!hadOne && (await acceptInvitation(codes, tx, loaded, at, code)));
        // What is refused here writes nothing, and the code still counts.
        if (proven && code !== undefined) await setting.check(loaded.state);
        if (proven) await setting.set(tx, loaded);
        if (proven && news !== false) tellNews(tx, newId, at, { news });
        return [tx.written(loaded), proven];
      });
      if (!isProven) throw codeInvalid(`${field}.verification_code`);
      return { details: toDetails(written()) };
    },

    async requestPasswordReset({ id, medium }, scope) {
      const [written, verificationCode] = await events.transact(writeContext(scope), async (tx) => {
        const loaded = await tx.load(user, id);
        const { state } = loaded;
        requirePerson(state);
        const way = medium?.medium.case ?? "sendEmail";
        if (way === "returnCode") requireVouching(scope, { ...state, userId: id });
        if (way === "sendEmail") requireContact(state, "email");
        if (way === "sendSms") requireContact(state, "phone");
        const at = { instanceId: scope.instanceId, userId: id };
        const delivery = deliveryOf(medium?.medium);
        const code = await codes.issue(tx, at, passwordReset, { subject, delivery });
        tx.record(user, loaded, [userEvents["human.password.code.added"]({})]);
        return [tx.written(loaded), code];
      });
      return { details: toDetails(written()), ...(verificationCode && { verificationCode }) };
    },

    async removePassword({ id }, scope) {
      const written = await events.transact(writeContext(scope), async (tx) => {
        const loaded = await tx.load(user, id);
        if (loaded.state === undefined) throw userNotFound();
        requireAny(loaded.state.authenticators, "password");
        tx.record(user, loaded, [userEvents["human.password.removed"]({})]);
        tx.write(passwords.remove({ instanceId: scope.instanceId, userId: id }));
        return tx.written(loaded);
      });
      return { details: toDetails(written()) };
    },
  };
}

/** The code of an invitation came by e-mail: it proves the address too. */
async function acceptInvitation(
  codes: Codes,
  tx: Transaction,
  loaded: Loaded<User | undefined>,
  at: { instanceId: string; userId: string },
  code: string,
): Promise<boolean> {
  const { email } = loaded.state ?? {};
  if (email === undefined) return false;
  const tried = { code, subject: email.address };
  const right = await codes.spend(tx, at, initialization, tried);
  if (right !== undefined && (!email.isVerified || email.reach !== undefined))
    tx.record(user, loaded, verifyContact("email", right));
  return right !== undefined;
}

function deliveryOf(medium: PasswordResetMedium["medium"] | undefined): Delivery {
  if (medium?.case === "returnCode") return "returned";
  if (medium?.case === "sendSms") return { channel: "sms" };
  return { channel: "email", urlTemplate: medium?.value?.urlTemplate };
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
