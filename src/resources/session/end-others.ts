import type {
  EndOtherSessionsRequest,
  SessionService,
} from "#gen/idsvc/resources/session/v3alpha/session_service_pb.ts";
import { type Scope, writeContext } from "../../authz/context.ts";
import type { Handlers } from "../../authz/service.ts";
import { invalidField } from "../../errors.ts";
import type { WriteContext } from "../../eventstore/transaction.ts";
import { rowsWhere } from "../../projection/rows.ts";
import type { Deps } from "../../projection/module.ts";
import { endSome } from "./end-sessions.ts";
import { sessions } from "./projection.ts";
import { isLiving } from "./queries.ts";
import { createTrustedBrowsers } from "./trusted-browsers.ts";
import { createVisits } from "./visits.ts";

/** Ends what apps have kept of sessions of a user, but for those that stay; of sessions too that ended by themselves. */
export type EndKept = (
  deps: Pick<Deps, "db" | "events">,
  at: WriteContext,
  of: { userId: string; staying: ReadonlySet<string> },
) => Promise<void>;

/** The user whom a request means. @throws INVALID_ARGUMENT USER_ID_MISSING where the caller is none */
export function requireNamed({ userId }: EndOtherSessionsRequest, { caller }: Scope): string {
  if (userId !== undefined) return userId;
  if (caller.kind === "user") return caller.userId;
  throw invalidField("user_id", "USER_ID_MISSING", "is needed, as the caller is no user");
}

/** Ends all sessions of a user but those of one browser, and the trust in all others. */
export function endOthersHandlers(deps: Deps, endKept: EndKept) {
  const { db, now } = deps;
  const visits = createVisits(deps);
  const trusted = createTrustedBrowsers(deps);

  async function living(instanceId: string, userId: string): Promise<string[]> {
    const rows = await rowsWhere(db, sessions, { instanceId, userId });
    return rows.filter((row) => isLiving(row, now())).map(({ id }) => id);
  }

  /** The session that stays, with those beside it. @throws INVALID_ARGUMENT SESSION_NOT_OF_USER */
  async function stayingOf(
    { caller, instanceId }: Scope,
    named: string | undefined,
    all: readonly string[],
  ): Promise<{ ids: ReadonlySet<string>; browserId?: string | undefined }> {
    const id = named ?? (caller.kind === "user" ? caller.authentication?.sessionId : undefined);
    if (id !== undefined && all.includes(id)) {
      const beside = (await visits.beside(instanceId, [id])).get(id) ?? [];
      const ids = new Set([id, ...beside]);
      return { ids, browserId: await visits.browserOf(instanceId, id) };
    }
    if (named === undefined) return { ids: new Set() };
    throw invalidField(
      "session_id",
      "SESSION_NOT_OF_USER",
      "is no session of the user, or it has ended",
    );
  }

  return {
    async endOtherSessions(request, scope) {
      const userId = requireNamed(request, scope);
      const { instanceId } = scope;
      await db.catchUp();
      const all = await living(instanceId, userId);
      const { ids: staying, browserId } = await stayingOf(scope, request.sessionId, all);
      const at = writeContext(scope);
      const leaving = all.filter((id) => !staying.has(id));
      const ended = await endSome(deps, at, leaving);
      await trusted.endOthers(at, userId, browserId);
      await endKept(deps, at, { userId, staying });
      return { ended };
    },
  } satisfies Partial<Handlers<typeof SessionService>>;
}
