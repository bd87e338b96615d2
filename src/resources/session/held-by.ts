import type { SessionService } from "#gen/idsvc/resources/session/v3alpha/session_service_pb.ts";
import type { RequestChallenges } from "#gen/idsvc/resources/session/v3alpha/challenge_pb.ts";
import type { CheckUser } from "#gen/idsvc/resources/session/v3alpha/check_pb.ts";
import type { Held } from "../../authz/holds.ts";
import type { HeldBy } from "../../authz/service.ts";
import { loadIn } from "../../eventstore/load-in.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { checkedNameReader } from "../user/index.ts";
import { requireNamed } from "./end-others.ts";
import { session } from "./session.ts";

/**
 * Whose proof requests hand to the caller (J1): a one-time password that is returned instead of sent proves the
 * user whom the caller asks it for. A session that the caller has the token of is the caller's own to end.
 */
export function usersOfSessions(deps: Pick<Deps, "db" | "events">): HeldBy<typeof SessionService> {
  const { events } = deps;
  const byName = checkedNameReader(deps);

  const idOf = ({ search }: CheckUser, instanceId: string) =>
    search.case === "loginName" ? byName(instanceId, search.value) : search.value;
  const isReturned = (challenges: RequestChallenges | undefined): boolean =>
    challenges?.otpSms?.returnCode === true || challenges?.otpEmail?.delivery.case === "returnCode";
  const userOf = async (id: string, instanceId: string, tx?: Transaction): Promise<Held[]> => {
    const { state } = await loadIn(events, instanceId, tx)(session, id);
    return state?.user === undefined ? [] : [{ userId: state.user.id }];
  };

  return {
    async createSession({ session: wanted }, { instanceId }) {
      const named = wanted?.checks?.user;
      if (named === undefined || !isReturned(wanted?.challenges)) return [];
      const userId = await idOf(named, instanceId);
      return userId === undefined ? [] : [{ userId }];
    },
    async patchSession({ id, session: wanted }, { instanceId }, tx) {
      if (!isReturned(wanted?.challenges)) return [];
      const named = wanted?.checks?.user;
      const userId = named && (await idOf(named, instanceId));
      return userId === undefined ? userOf(id, instanceId, tx) : [{ userId }];
    },
    endOtherSessions: (request, scope) => [{ userId: requireNamed(request, scope) }],
    deleteSession: ({ id, sessionToken }, { instanceId }, tx) =>
      sessionToken === undefined ? userOf(id, instanceId, tx) : [],
  };
}
