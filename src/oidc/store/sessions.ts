import { columnsWhere } from "../../projection/rows.ts";
import type { Awaitable } from "../../awaitable.ts";
import type { Sweep } from "../../jobs/sweeper.ts";
import type { Deps } from "../../projection/module.ts";
import { and, asc, eq, lte, parameter } from "../../storage/drizzle.ts";
import { cachedRead } from "../../storage/read-cache.ts";
import type { Row } from "../../storage/table.ts";
import type { At, EndReason, OidcSession } from "../core/ports.ts";
import { oidcSession, oidcSessionEvents, type OidcSessionEnding } from "./events.ts";
import { audienceReader } from "./references.ts";
import { endsOf, oidcLineage, oidcSessions } from "./tables.ts";
import { writtenBy } from "./write.ts";

export type OidcSessionReader = (
  instanceId: string,
  id: string,
) => Awaitable<OidcSession | undefined>;

// Streams that one unit ends: few enough that others need not wait for it.
const atOnce = 20;

/** An OIDC session that has not ended, nor anything that it came from. */
export function oidcSessionReader(parts: Pick<Deps, "db" | "apps">): OidcSessionReader {
  const { db } = parts;
  const t = db.table(oidcSessions);
  const byId = db.read
    .select()
    .from(t)
    .where(and(eq(t.instanceId, parameter("instanceId")), eq(t.id, parameter("id"))))
    .prepare("oidc_session");
  const ends = [oidcSessions, oidcLineage].map(endsOf);
  const audienceOf = audienceReader(parts);
  return cachedRead<OidcSession | undefined>(db, ends, async (instanceId, id) => {
    const [row] = await byId.execute({ instanceId, id });
    if (row === undefined) return undefined;
    if (row.parents.length > 0) {
      const lineage = { instanceId, oidcSessionId: id };
      const living = await columnsWhere(db, oidcLineage, ["parentId"], lineage);
      if (living.length < row.parents.length) return undefined;
    }
    const { clientId, scope, audience } = row;
    const access = row.access ?? undefined;
    const stored = { clientId, isMachine: false, scope, audience, access };
    return { ...toSession(row), ...(await audienceOf(instanceId, stored)) };
  });
}

function toSession(row: Row<typeof oidcSessions>): Omit<OidcSession, "audience" | "access"> {
  const { id, clientId, userId, organizationId, sessionId, scope, amr, parents } = row;
  return {
    id,
    clientId,
    userId,
    organizationId,
    sessionId,
    scope,
    amr,
    parents,
    nonce: undefined,
    claims: row.claims === null || row.claims === "" ? undefined : JSON.parse(row.claims),
    authTime: row.authTime ?? undefined,
    acr: row.acr ?? undefined,
    actor: row.actor ?? undefined,
  };
}

/** Ends an OIDC session; nothing if it has ended. */
export async function endOidcSession(
  { events }: Pick<Deps, "events">,
  at: At,
  session: Pick<OidcSession, "id" | "userId" | "clientId" | "sessionId" | "actor">,
  reason: EndReason,
): Promise<void> {
  const { id, userId, clientId } = session;
  await events.transact(writtenBy(at, userId, clientId, session), async (tx) => {
    const loaded = await tx.load(oidcSession, id);
    tx.record(oidcSession, loaded, terminate(loaded.state.isOpen, reason));
  });
}

/** Removes sessions of which nothing can live any more. Nothing waits for it. */
export const sweepOidcSessions =
  ({ db, events, now }: Pick<Deps, "db" | "events" | "now">): Sweep =>
  async (limit) => {
    const t = db.table(oidcSessions);
    const due = await db.read
      .select({ instanceId: t.instanceId, id: t.id })
      .from(t)
      .where(lte(t.expiresAt, now()))
      .orderBy(asc(t.expiresAt))
      .limit(limit);
    for (const [instanceId, found] of Map.groupBy(due, (each) => each.instanceId)) {
      const by = writtenBy({ instanceId, issuer: "", requestId: "" }, "system:sweeper", "");
      for (let from = 0; from < found.length; from += atOnce) {
        await events.transact(by, async (tx) => {
          for (const { id } of found.slice(from, from + atOnce)) {
            const loaded = await tx.load(oidcSession, id);
            tx.record(oidcSession, loaded, terminate(loaded.state.isOpen, "expired"));
          }
        });
      }
    }
    return due.length;
  };

export const terminate = (isOpen: boolean, reason: OidcSessionEnding) =>
  isOpen ? [oidcSessionEvents.terminated({ reason })] : [];
