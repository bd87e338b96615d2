import type { WriteContext } from "../../../eventstore/transaction.ts";
import { authenticatorsOf } from "../authenticator/authenticators.ts";
import type { Judgement } from "../check/attempts.ts";
import { checkEvents } from "../check/events.ts";
import type { Credentials } from "../credentials.ts";
import type { IntentProof } from "../ports.ts";

/** The provider of a login that was right, and whether its word counts as two factors. */
export type IdpIntentOutcome =
  | { isRight: false }
  | { isRight: true; idpId: string; isSecondFactor: boolean };

/**
 * Whether somebody has just logged in with an account that is linked to the user, at a provider that is active for their
 * organization. A login counts once, and of another user it is not used up.
 */
export type IdpIntentCheck = (
  at: WriteContext,
  userId: string | undefined,
  proof: IntentProof,
) => Promise<IdpIntentOutcome>;

type Judged = Judgement & { idpId: string; isSecondFactor: boolean };

export function createIdpIntentCheck({ deps, attempts }: Credentials): IdpIntentCheck {
  const { intents } = deps;
  return async (at, userId, proof) => {
    const { instanceId } = at;
    // Nobody can guess a token: wrong ones are not counted.
    const judgement = await attempts.judge<Judged>(at, userId, undefined, async (tx, state) => {
      const said = await intents.said(instanceId, proof);
      if (said === undefined || userId === undefined) return undefined;
      const { idpId, identity } = said;
      const isHis = authenticatorsOf(state.authenticators, "idp", "verified").some(
        ({ id, address }) => id === idpId && address === identity.id,
      );
      if (!isHis || !(await intents.isActive(instanceId, state.organizationId, idpId))) {
        return undefined;
      }
      await intents.spend(tx, instanceId, said, userId);
      const happened = [checkEvents["human.externalidp.check.succeeded"]({ idpId })];
      const provider = await intents.provider(instanceId, idpId);
      const isSecondFactor = provider?.options.isSecondFactor === true;
      return { isRight: true, happened, idpId, isSecondFactor };
    });
    if (judgement === undefined) return { isRight: false };
    const { idpId, isSecondFactor } = judgement;
    return { isRight: true, idpId, isSecondFactor };
  };
}
