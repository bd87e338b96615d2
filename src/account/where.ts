import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import type { Own } from "./own.ts";

export type Seen = { browser: string; system: string; address: string };

const mostEvents = 200;

/** Browser, system and address of sessions of the person, by the id of the session: as their own events tell (L4). */
export async function whereSessionsAre({ call, user: { id } }: Own): Promise<Map<string, Seen>> {
  const { result } = await call(UserService.method.searchUserEvents, {
    id,
    query: { limit: mostEvents },
    withChecks: true,
  });
  const seen = new Map<string, Seen>();
  // The newest comes first.
  for (const { editor } of result) {
    const { sessionId, browser = "", system = "", address = "" } = editor?.origin ?? {};
    if (sessionId === undefined || sessionId === "" || seen.has(sessionId)) continue;
    if (address !== "") seen.set(sessionId, { browser, system, address });
  }
  return seen;
}
