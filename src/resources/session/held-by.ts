import type { SessionService } from "#gen/idsvc/resources/session/v3alpha/session_service_pb.ts";
import type { RequestChallenges } from "#gen/idsvc/resources/session/v3alpha/challenge_pb.ts";
import type { HeldBy } from "../../authz/service.ts";
import type { Deps } from "../../projection/module.ts";
import { userOf } from "../object/user-of.ts";
import { checkedUser } from "./checks.ts";
import { requireNamed } from "./end-others.ts";
import { handsOver } from "./patch-right.ts";
import { sessionById } from "./queries.ts";
import { session } from "./session.ts";

/**
 * Whose proof requests hand to the caller (J1): a one-time password that is returned instead of sent proves the
 * user whom the caller asks it for, and a new token of a session what its user proved in it. A session that the caller has the
 * token of is the caller's own to end.
 */
export function usersOfSessions(deps: Pick<Deps, "db" | "events">): HeldBy<typeof SessionService> {
  const { db, events } = deps;
  const byId = sessionById(db);
  const idOf = checkedUser(deps);

  const isReturned = (challenges: RequestChallenges | undefined): boolean =>
    challenges?.otpSms?.returnCode === true || challenges?.otpEmail?.delivery.case === "returnCode";
  const itsUser = userOf(events, session, (state) => state?.user?.id);

  return {
    async createSession({ session: wanted }, { instanceId }) {
      const named = wanted?.checks?.user;
      if (named === undefined || !isReturned(wanted?.challenges)) return [];
      const userId = await idOf(instanceId, named);
      return userId === undefined ? [] : [{ userId }];
    },
    async patchSession({ id, session: wanted }, scope, tx) {
      const { instanceId } = scope;
      const named = wanted?.checks?.user;
      if (named !== undefined && isReturned(wanted?.challenges)) {
        const userId = await idOf(instanceId, named);
        if (userId !== undefined) return [{ userId }];
      }
      const [row, held] = [await byId(instanceId, id), await itsUser({ id }, scope, tx)];
      if (row === undefined || isReturned(wanted?.challenges)) return held;
      return held.filter(({ userId }) =>
        handsOver({ id, creatorId: row.creatorId, user: { id: userId } }, scope),
      );
    },
    endOtherSessions: (request, scope) => [{ userId: requireNamed(request, scope) }],
    deleteSession: (request, scope, tx) =>
      request.sessionToken === undefined ? itsUser(request, scope, tx) : [],
  };
}
