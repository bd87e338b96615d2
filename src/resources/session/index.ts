import { SessionService } from "#gen/idsvc/resources/session/v3alpha/session_service_pb.ts";
import { service } from "../../authz/service.ts";
import type { Module } from "../../projection/module.ts";
import { idpIntentHandlers } from "./idp-intent-handlers.ts";
import { removeContentsOfSessions, sweepSessions } from "./end-sessions.ts";
import { sessionEvents } from "./events.ts";
import { sessionAuthorize, sessionHandlers } from "./handlers.ts";
import { usersOfSessions } from "./held-by.ts";
import { sessionProjection } from "./projection.ts";

export { endSession } from "./end-sessions.ts";
export { openProvenSession, type Proof, recordProof } from "./proven.ts";
export {
  authenticationOf,
  firstFactorAt,
  levelsOf,
  methodsOf,
  type Proofs,
  proofsOf,
  secondFactorAt,
} from "./proofs.ts";
export { sessionMakers } from "./makers.ts";
export { type DemandReader, demandReader, missingProof, type Progress } from "./policy.ts";
export { type FoundSession, isLiving, sessionById } from "./queries.ts";
export { sessionEvents } from "./events.ts";
export { sessions } from "./projection.ts";
export { session } from "./session.ts";
export { stepUp, strengthsHeld } from "./step-up.ts";
export { sessionCaller, sessionTokens } from "./token.ts";

/** Sessions: what users proved of themselves, and what they act with. */
export const sessionModule: Module = {
  events: [sessionEvents],
  projections: [sessionProjection],
  services: (deps) => [
    service(
      SessionService,
      { ...sessionHandlers(deps), ...idpIntentHandlers(deps) },
      sessionAuthorize(deps),
      usersOfSessions(deps),
    ),
  ],
  contents: removeContentsOfSessions,
  sweeps: (deps) => [sweepSessions(deps)],
};
