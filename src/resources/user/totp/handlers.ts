import type { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { writeContext } from "../../../authz/context.ts";
import type { Handlers } from "../../../authz/service.ts";
import type { Written } from "../../../eventstore/transaction.ts";
import { toDetails } from "../../object/details.ts";
import {
  authenticatorsOf,
  requireHeld,
  requireRoom,
  requireUnverified,
} from "../authenticator/authenticators.ts";
import type { Judgement } from "../check/attempts.ts";
import { checkEvents } from "../check/events.ts";
import { codeInvalid } from "../codes.ts";
import type { Credentials } from "../credentials.ts";
import { userEvents } from "../events.ts";
import { requirePerson } from "../person.ts";
import { user, userNotFound } from "../user.ts";

export type TotpMethods =
  | "startTOTPRegistration"
  | "verifyTOTPRegistration"
  | "removeTOTPAuthenticator";

export function totpHandlers(
  credentials: Credentials,
): Pick<Handlers<typeof UserService>, TotpMethods> {
  const { deps, attempts, totps } = credentials;
  const { events, newId } = deps;

  return {
    async startTOTPRegistration({ id }, scope) {
      const at = { instanceId: scope.instanceId, userId: id };
      const [written, made] = await events.transact(writeContext(scope), async (tx) => {
        const loaded = await tx.load(user, id);
        requirePerson(loaded.state);
        const { authenticators, username } = loaded.state;
        for (const { id: earlier, isVerified } of authenticatorsOf(authenticators, "totp")) {
          if (isVerified) continue;
          tx.record(user, loaded, [userEvents["human.mfa.otp.removed"]({ totpId: earlier })]);
          tx.write(totps.remove(at, earlier));
        }
        requireRoom(authenticators, "totp");
        const totpId = newId();
        const { hostname: issuer } = new URL(scope.issuer);
        const totp = { id: totpId, issuer, label: username, createdAt: tx.now };
        const { change, ...response } = await totps.make(at, totp);
        tx.record(user, loaded, [userEvents["human.mfa.otp.added"]({ totpId })]);
        tx.write(change);
        return [tx.written(loaded), { totpId, ...response }];
      });
      return { details: toDetails(written()), ...made };
    },

    async verifyTOTPRegistration({ id, totpId, code }, scope) {
      type Ended = Judgement & { written?: () => Written };
      const at = { instanceId: scope.instanceId, userId: id };
      const judgement = await attempts.judge<Ended>(
        writeContext(scope),
        id,
        "factor",
        async (tx, { authenticators }, { totpStep }) => {
          requireUnverified(requireHeld(authenticators, "totp", totpId));
          const step = await totps.stepOf(at, totpId, { code, now: tx.now, after: totpStep });
          if (step === undefined) {
            return { isRight: false, happened: [checkEvents["human.mfa.otp.check.failed"]({})] };
          }
          const loaded = await tx.load(user, id);
          tx.record(user, loaded, [userEvents["human.mfa.otp.verified"]({ totpId })]);
          const happened = [checkEvents["human.mfa.otp.check.succeeded"]({ totpId })];
          return { isRight: true, happened, totpStep: step, written: tx.written(loaded) };
        },
      );
      if (judgement?.written === undefined) throw codeInvalid("code");
      return { details: toDetails(judgement.written()) };
    },

    async removeTOTPAuthenticator({ id, totpId }, scope) {
      const written = await events.transact(writeContext(scope), async (tx) => {
        const loaded = await tx.load(user, id);
        if (loaded.state === undefined) throw userNotFound();
        requireHeld(loaded.state.authenticators, "totp", totpId);
        tx.record(user, loaded, [userEvents["human.mfa.otp.removed"]({ totpId })]);
        tx.write(totps.remove({ instanceId: scope.instanceId, userId: id }, totpId));
        return tx.written(loaded);
      });
      return { details: toDetails(written()) };
    },
  };
}
