import { randomUUID } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { ChecksSchema } from "#gen/idsvc/resources/session/v3alpha/check_pb.ts";
import type {
  Challenges,
  RequestChallengesSchema,
} from "#gen/idsvc/resources/session/v3alpha/challenge_pb.ts";
import { SessionService } from "#gen/idsvc/resources/session/v3alpha/session_service_pb.ts";
import { DomainError } from "../errors.ts";
import type { RouteParts } from "./route.ts";
import type { PageContext } from "./page-context.ts";

type Checks = MessageInitShape<typeof ChecksSchema>;

/** What came of a check. Wrong, unknown, locked and throttled are one answer (D49). */
export type Proved = { isRight: false } | { isRight: true; mustChangePassword: boolean };

/** No user has this id: none that begins so can be chosen, and what an older store may have does not know the rest. */
const nobody = `system:${randomUUID()}`;

/**
 * Proves the password of whoever the flow is about: in their session where there is one, else in a new one. Nobody (no user
 * of the name) is judged as everybody else.
 */
export async function provePassword(
  parts: RouteParts,
  context: PageContext,
  password: string,
): Promise<Proved> {
  const { data } = context.flow;
  if (data.sessionId !== undefined) {
    return proveInSession(parts, context, data.sessionId, { password: { password } });
  }
  const { userId = nobody } = data;
  return createSession(parts, context, {
    user: { search: { case: "userId", value: userId } },
    password: { password },
  });
}

async function createSession(
  { call, policyOf }: RouteParts,
  context: PageContext,
  checks: Checks,
): Promise<Proved> {
  const { sessionLifetimeMs } = await policyOf(context.tenant);
  return judged(async () => {
    const session = { checks, lifetime: durationFromMs(sessionLifetimeMs) };
    const made = await call(SessionService.method.createSession, { session }, context.asService());
    await context.note({ ...context.flow.data, sessionId: made.sessionId });
  });
}

/** Checks something in a session that is there. */
export const proveInSession = (
  { call }: RouteParts,
  context: PageContext,
  id: string,
  checks: Checks,
): Promise<Proved> =>
  judged(async () => {
    const request = { id, session: { checks } };
    await call(SessionService.method.patchSession, request, context.asService());
  });

/** Has a code sent, or asks for a key. */
export async function challengeIn(
  { call }: RouteParts,
  context: PageContext,
  id: string,
  challenges: MessageInitShape<typeof RequestChallengesSchema>,
): Promise<Challenges | undefined> {
  const request = { id, session: { challenges } };
  return (await call(SessionService.method.patchSession, request, context.asService())).challenges;
}

async function judged(work: () => Promise<void>): Promise<Proved> {
  try {
    await work();
    return { isRight: true, mustChangePassword: false };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    if (error.reason === "PASSWORD_CHANGE_REQUIRED") {
      return { isRight: true, mustChangePassword: true };
    }
    // What is no valid form of a password or a code is a wrong one.
    if (error.kind === "invalidArgument" || error.reason === "SESSION_NOT_FOUND") {
      return { isRight: false };
    }
    throw error;
  }
}
