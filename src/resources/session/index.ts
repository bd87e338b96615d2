import type { UserDeps } from "../user/index.ts";
import { SessionService } from "#gen/idsvc/resources/session/v3alpha/session_service_pb.ts";
import { sweepExpiredRows } from "../../jobs/expired-rows.ts";
import { service } from "../../authz/service.ts";
import type { Module } from "../../projection/module.ts";
import { idpIntentHandlers } from "./idp-intent-handlers.ts";
import { type EndKept, endOthersHandlers } from "./end-others.ts";
import { removeContentsOfSessions, sweepSessions } from "./end-sessions.ts";
import { sessionEvents } from "./events.ts";
import { sessionAuthorize, sessionHandlers } from "./handlers.ts";
import { usersOfSessions } from "./held-by.ts";
import { type CountedHere, countLogIns, logInCounts, logIns } from "./log-ins.ts";
import { trustedBrowsers, trustEnds } from "./trusted-browsers.ts";
import { sessionVisits } from "./visits.ts";
import type { IdpLogins } from "./ports.ts";
import { sessionProjection } from "./projection.ts";

export type { EndKept } from "./end-others.ts";
export { endSession, endSome } from "./end-sessions.ts";
export { openProvenSession, type Proof, recordProof } from "./proven.ts";
export {
  authenticationOf,
  countingProofs,
  firstFactorAt,
  isByMailboxAlone,
  levelsOf,
  methodsOf,
  type Proofs,
  provenBy,
} from "./proofs.ts";
export { sessionMakers } from "./makers.ts";
export { type DemandReader, demandReader, missingProof, type Progress } from "./policy.ts";
export { isLiving, sessionById } from "./queries.ts";
export { session } from "./session.ts";
export { sessionEvents } from "./events.ts";
export { sessions } from "./projection.ts";
export { maxAgeMs as maxStepUpAgeMs, stepUp, strengthsHeld } from "./step-up.ts";
export { createTrustedBrowsers, endTrust, type TrustedBrowsers } from "./trusted-browsers.ts";
export { createVisits, type Visit } from "./visits.ts";
export { sessionCaller, sessionTokens } from "./token.ts";

/**
 * Sessions: what users proved of themselves, and what they act with.
 * @param endKept ends what apps have kept of sessions that have ended
 * @param loginsOf logins with identity providers
 */
export const sessionModule = <D extends UserDeps>(
  endKept: EndKept,
  loginsOf: (deps: D) => IdpLogins,
): Module<D> => {
  const countedHere: CountedHere = new Map();
  return {
    events: [sessionEvents],
    projections: [sessionProjection],
    state: [sessionVisits, trustedBrowsers, logIns],
    reactions: () => [trustEnds],
    services: (deps) => [
      service(
        SessionService,
        {
          ...sessionHandlers(deps),
          ...idpIntentHandlers(deps, loginsOf(deps)),
          ...endOthersHandlers(deps, endKept),
          getLogInCounts: logInCounts(countedHere, deps),
        },
        sessionAuthorize(deps),
        usersOfSessions(deps),
      ),
    ],
    contents: removeContentsOfSessions,
    sweeps: (deps) => [
      sweepSessions(deps),
      sweepExpiredRows(deps, trustedBrowsers),
      sweepExpiredRows(deps, logIns),
    ],
    background: (deps, onError) => countLogIns(countedHere, deps, onError),
  };
};
