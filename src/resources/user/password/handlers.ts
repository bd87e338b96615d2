import type { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { type Scope, writeContext } from "../../../authz/context.ts";
import type { Handlers } from "../../../authz/service.ts";
import { invalidArgument, invalidField } from "../../../errors.ts";
import { toDetails } from "../../object/details.ts";
import { mayOn, permissionMissing } from "../../org/index.ts";
import { requireAny } from "../authenticator/authenticators.ts";
import { codeInvalid, passwordReset } from "../codes.ts";
import { requireContact } from "../contact.ts";
import type { Credentials } from "../credentials.ts";
import { userEvents } from "../events.ts";
import { requirePerson } from "../person.ts";
import { user, userNotFound } from "../user.ts";
import { settingOf } from "./set.ts";

export type PasswordMethods = "setPassword" | "requestPasswordReset" | "removePassword";

const field = "new_password";
const subject = "password";

export function passwordHandlers(
  credentials: Credentials,
): Pick<Handlers<typeof UserService>, PasswordMethods> {
  const { events } = credentials.deps;
  const { codes, checkPassword, passwords } = credentials;

  /** @throws INVALID_ARGUMENT INVALID_CREDENTIALS */
  async function requireCurrent(scope: Scope, id: string, password: string): Promise<void> {
    const { isRight } = await checkPassword(writeContext(scope), id, password);
    if (isRight) return;
    const description = "is not the password of the user, or was tried too often";
    throw invalidField(`${field}.current_password`, "INVALID_CREDENTIALS", description);
  }

  return {
    async setPassword({ id, newPassword }, scope) {
      if (newPassword === undefined) throw new Error("validation requires the password");
      const { verification } = newPassword;
      const setting = settingOf(credentials, scope.instanceId, newPassword, field);
      // Before anything is tried: what is refused anyway spends neither a code nor an attempt.
      const { state: first } = await events.load(user, scope.instanceId, id);
      requirePerson(first);
      const mayWrite = mayOn(scope, scope.policy.act, first);
      if (!mayWrite) {
        // Whose hash it is, the policy cannot be asked.
        if (newPassword.type.case === "hash") throw permissionMissing(scope.policy.act);
        if (verification.case === undefined) throw proofMissing();
      }
      await setting.check(first);
      if (verification.case === "currentPassword") {
        await requireCurrent(scope, id, verification.value);
      }
      const code = verification.case === "verificationCode" ? verification.value : undefined;

      const [written, isProven] = await events.transact(writeContext(scope), async (tx) => {
        const loaded = await tx.load(user, id);
        requirePerson(loaded.state);
        const at = { instanceId: scope.instanceId, userId: id };
        const proven =
          code === undefined || (await codes.spend(tx, at, passwordReset, { code, subject }));
        if (proven) await setting.set(tx, loaded);
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
        if (way === "returnCode" && !mayOn(scope, scope.policy.act, state)) {
          throw permissionMissing(scope.policy.act);
        }
        if (way === "sendEmail") requireContact(state, "email");
        if (way === "sendSms") requireContact(state, "phone");
        const at = { instanceId: scope.instanceId, userId: id };
        const code = await codes.issue(tx, at, passwordReset, subject);
        tx.record(user, loaded, [userEvents["human.password.code.added"]({})]);
        return [tx.written(loaded), way === "returnCode" ? code : undefined];
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
