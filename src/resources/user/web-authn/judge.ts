import type { JsonObject } from "@bufbuild/protobuf";
import type { Transaction } from "../../../eventstore/transaction.ts";
import { webAuthNEvents } from "../authenticator/events.ts";
import type { AuthenticatorRow } from "../authenticator/queries.ts";
import { type CheckEvent, checkEvents } from "../check/events.ts";
import type { Credentials } from "../credentials.ts";
import { userEvents } from "../events.ts";
import { user } from "../user.ts";
import { verifyAssertion } from "./ceremony.ts";
import type { UserVerification } from "./challenges.ts";
import type { UserRef } from "../user-ref.ts";
import { toCredential } from "./stored.ts";

/**
 * Judges an answer to a challenge that counted still. The first use of a passkey that a browser made by itself has to verify its user;
 * from then on it counts (decision 0334).
 */
export const answerJudge =
  ({ authenticators, relatedOrigins }: Pick<Credentials, "authenticators" | "relatedOrigins">) =>
  async (
    tx: Transaction,
    owner: UserRef,
    json: JsonObject,
    asked: { challenge: string; domain: string; userVerification: UserVerification },
  ) => {
    const { challenge, domain, userVerification } = asked;
    const rows = await authenticators.ofKind(owner, "web_authn");
    const one = rows.find(({ lookup }) => lookup === json["id"]);
    if (one === undefined) return undefined;
    const credential = toCredential(one);
    if (credential.domain !== domain) return undefined;
    const expected = { challenge, domain, related: await relatedOrigins(owner.instanceId) };
    const checked = await verifyAssertion(json, expected, { credential, userVerification });
    const isConfirmed = !one.isVerified;
    if (checked === undefined || (isConfirmed && !checked.isUserVerified)) {
      return { isRight: false as const, happened: [failed(one)] };
    }
    const { signCount, isUserVerified } = checked;
    if (isConfirmed) {
      const confirmed = userEvents["human.passwordless.token.confirmed"]({ webAuthNId: one.id });
      tx.record(user, await tx.load(user, owner.userId), [confirmed]);
    }
    const outcome = { isRight: true as const, webAuthNId: one.id, isUserVerified, isConfirmed };
    return { ...outcome, happened: succeeded(one, signCount) };
  };

const failed = ({ isMarked: isPasskey, id: webAuthNId }: AuthenticatorRow): CheckEvent =>
  checkEvents[`${webAuthNEvents(isPasskey)}.check.failed`]({ webAuthNId });

function succeeded(one: AuthenticatorRow, signCount: number): CheckEvent[] {
  const { isMarked: isPasskey, id: webAuthNId, number } = one;
  const token = webAuthNEvents(isPasskey);
  const right = checkEvents[`${token}.check.succeeded`]({ webAuthNId });
  return signCount === number
    ? [right]
    : [right, checkEvents[`${token}.signcount.changed`]({ webAuthNId, signCount })];
}
