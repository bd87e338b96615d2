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
import { endAuthenticators } from "../authenticator/removal.ts";
import { changingUser } from "../change.ts";
import type { Judgement } from "../check/attempts.ts";
import { checkEvents } from "../check/events.ts";
import { codeInvalid } from "../codes.ts";
import type { Credentials } from "../credentials.ts";
import { userEvents } from "../events.ts";
import { requirePerson } from "../person.ts";
import { user } from "../user.ts";

export function totpHandlers(credentials: Credentials) {
  const { deps, attempts, totps } = credentials;
  const change = changingUser(deps);

  return {
    startTOTPRegistration: ({ id }, scope) =>
      change(scope, id, async (one) => {
        const { tx, ref, state } = one;
        requirePerson(state);
        const { authenticators, username } = state;
        const unended = authenticatorsOf(authenticators, "totp").filter((each) => !each.isVerified);
        endAuthenticators(credentials, one, unended);
        requireRoom(authenticators, "totp");
        const totpId = deps.newId();
        const { hostname: issuer } = new URL(scope.issuer);
        const totp = { id: totpId, issuer, label: username, createdAt: tx.now };
        const { change: row, ...response } = await totps.make(ref, totp);
        one.record([userEvents["human.mfa.otp.added"]({ totpId })]);
        tx.write(row);
        return { totpId, ...response };
      }),

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
  } satisfies Partial<Handlers<typeof UserService>>;
}
