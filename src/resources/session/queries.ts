import { rowsWhere } from "../../projection/rows.ts";
import {
  SessionFieldNameSchema,
  SessionSearchFilterSchema,
} from "#gen/idsvc/resources/session/v3alpha/query_pb.ts";
import type { SearchSessionsRequest } from "#gen/idsvc/resources/session/v3alpha/session_service_pb.ts";
import { editorOf, type Scope } from "../../authz/context.ts";
import type { Deps } from "../../projection/module.ts";
import { rowByKey } from "../../projection/ids.ts";
import { type Found } from "../../projection/search.ts";
import type { Database } from "../../storage/database.ts";
import { eq, gt, isNull, or, type SQL } from "../../storage/drizzle.ts";
import { cachedRead, current } from "../../storage/read-cache.ts";
import type { Row } from "../../storage/table.ts";
import { objectSearch } from "../object/queries.ts";
import { sessionMetadata, sessions } from "./projection.ts";
import type { Metadata } from "./session.ts";

export type SessionRow = Row<typeof sessions>;
export type FoundSession = SessionRow & { metadata: Metadata };

/** Whether a session has not ended. */
export const isLiving = ({ expiresAt }: SessionRow, now: Date): boolean =>
  expiresAt === null || expiresAt > now;

/** A session by its id, from memory where no session has changed, whether it has ended or not. */
export function sessionById(db: Database) {
  const rowOf = rowByKey(db, sessions);
  const withMetadata = metadataReader(db);
  return cachedRead(db, [sessions, sessionMetadata], async (instanceId, id) => {
    const row = await rowOf(instanceId, id);
    return row && (await withMetadata(instanceId, [row]))[0];
  });
}

/** Sessions with the values that others keep with them, in one read. */
function metadataReader(db: Database) {
  return async (instanceId: string, found: readonly SessionRow[]): Promise<FoundSession[]> => {
    const ids = found.map(({ id }) => id);
    const rows = await rowsWhere(db, sessionMetadata, { instanceId, sessionId: ids });
    const bySession = Map.groupBy(rows, ({ sessionId }) => sessionId);
    return found.map((row) => {
      const values = bySession.get(row.id) ?? [];
      return { ...row, metadata: Object.fromEntries(values.map((one) => [one.name, one.value])) };
    });
  };
}

export function sessionQueries(
  deps: Pick<Deps, "db" | "limits" | "now" | "organizations" | "secrets" | "tenancy">,
) {
  const { db, now, tenancy } = deps;
  const { organizationId, userId, creatorId, expiresAt } = db.table(sessions);
  const byId = current(db, sessionById(db));
  const withMetadata = metadataReader(db);

  /** What the caller made, they may read beside what they may read anyway. */
  async function visible(scope: Scope): Promise<(SQL | undefined)[]> {
    const alive = or(isNull(expiresAt), gt(expiresAt, now()));
    const [reached, ...living] = await tenancy.visible(scope, { organizationId, userId });
    return reached === undefined || scope.caller.kind !== "user"
      ? [alive, reached, ...living]
      : [alive, or(reached, eq(creatorId, editorOf(scope.caller))), ...living];
  }

  const search = objectSearch(deps, sessions, {
    filter: SessionSearchFilterSchema,
    sort: SessionFieldNameSchema,
    columns: { creator: "creatorId", expirationDate: "expiresAt" },
    visible,
  });

  return {
    /** A session that has not ended. */
    async find(instanceId: string, id: string): Promise<FoundSession | undefined> {
      const row = await byId(instanceId, id);
      return row !== undefined && isLiving(row, now()) ? row : undefined;
    },
    async search(scope: Scope, request: SearchSessionsRequest): Promise<Found<FoundSession>> {
      const found = await search(scope, request);
      return { ...found, rows: await withMetadata(scope.instanceId, found.rows) };
    },
  };
}
