import { timestampDate } from "@bufbuild/protobuf/wkt";
import {
  type SessionDateFilter,
  SessionFieldName,
  type SessionSearchFilter,
} from "#gen/idsvc/resources/session/v3alpha/query_pb.ts";
import { editorOf, type Scope } from "../../authz/context.ts";
import type { Deps } from "../../projection/module.ts";
import { type Found, isOneOf, type Page, search } from "../../projection/search.ts";
import type { Database } from "../../storage/database.ts";
import { and, type Column, eq, gt, isNull, or, type SQL } from "../../storage/drizzle.ts";
import { cachedRead, current } from "../../storage/read-cache.ts";
import type { Row } from "../../storage/table.ts";
import { hasId, hasTime } from "../object/filters.ts";
import type { Tenancy } from "../../authz/tenancy.ts";
import { sessionMetadata, sessions } from "./projection.ts";
import type { Metadata } from "./session.ts";

export type SessionRow = Row<typeof sessions>;
export type FoundSession = SessionRow & { metadata: Metadata };

/** Whether a session has not ended. */
export const isLiving = ({ expiresAt }: SessionRow, now: Date): boolean =>
  expiresAt === null || expiresAt > now;

/** A session by its id, from memory where no session has changed, whether it has ended or not. */
export function sessionById(db: Database) {
  const t = db.table(sessions);
  const metadataOf = metadataReader(db);
  return cachedRead<FoundSession | undefined>(db, [sessions, sessionMetadata], async (at, id) => {
    const [row] = await db.read
      .select()
      .from(t)
      .where(and(eq(t.instanceId, at), eq(t.id, id)));
    if (row === undefined) return undefined;
    return { ...row, metadata: (await metadataOf(at, [id])).get(id) ?? {} };
  });
}

/** The values that others keep with sessions, by the id of the session, in one read. */
function metadataReader(db: Database) {
  const t = db.table(sessionMetadata);
  return async (instanceId: string, ids: string[]): Promise<Map<string, Metadata>> => {
    const rows = await db.read
      .select()
      .from(t)
      .where(and(eq(t.instanceId, instanceId), isOneOf(t.sessionId, ids)));
    const bySession = Map.groupBy(rows, ({ sessionId }) => sessionId);
    return new Map(
      [...bySession].map(([id, values]) => [
        id,
        Object.fromEntries(values.map(({ name, value }) => [name, value])),
      ]),
    );
  };
}

export type SessionQueries = {
  /** A session that has not ended. */
  find(instanceId: string, id: string): Promise<FoundSession | undefined>;
  search(
    scope: Scope,
    asked: { filters: SessionSearchFilter[]; sortingColumn: SessionFieldName; page: Page },
  ): Promise<Found<FoundSession>>;
};

export function sessionQueries(
  { db, limits, now }: Pick<Deps, "db" | "limits" | "now">,
  tenancy: Tenancy,
): SessionQueries {
  const t = db.table(sessions);
  const byId = current(db, sessionById(db));
  const metadataOf = metadataReader(db);
  const columns: Record<number, Column> = {
    [SessionFieldName.ID]: t.id,
    [SessionFieldName.CREATION_DATE]: t.creationDate,
    [SessionFieldName.CHANGE_DATE]: t.changeDate,
  };

  /** What the caller made, they may read beside what they may read anyway. */
  async function visible(scope: Scope): Promise<(SQL | undefined)[]> {
    const [reached, ...living] = await tenancy.visible(scope, {
      organizationId: t.organizationId,
      userId: t.userId,
    });
    return reached === undefined || scope.caller.kind !== "user"
      ? [reached, ...living]
      : [or(reached, eq(t.creatorId, editorOf(scope.caller))), ...living];
  }

  return {
    async find(instanceId, id) {
      const row = await byId(instanceId, id);
      return row !== undefined && isLiving(row, now()) ? row : undefined;
    },
    async search(scope, { filters, sortingColumn, page }) {
      const living = or(isNull(t.expiresAt), gt(t.expiresAt, now()));
      const found = await search(db, sessions, {
        instanceId: scope.instanceId,
        filters: [living, ...(await visible(scope)), ...filters.map(condition)],
        order: columns[sortingColumn] ?? t.creationDate,
        page,
        limits,
      });
      const ids = found.rows.map(({ id }) => id);
      const metadata = await metadataOf(scope.instanceId, ids);
      const rows = found.rows.map((row) => ({ ...row, metadata: metadata.get(row.id) ?? {} }));
      return { ...found, rows };
    },
  };

  function condition({ filter }: SessionSearchFilter): SQL | undefined {
    switch (filter.case) {
      case "inIds":
        return hasId(t.id, filter.value);
      case "userId":
        return eq(t.userId, filter.value);
      case "creationDate":
        return isAt(t.creationDate, filter.value);
      case "creator":
        return eq(t.creatorId, filter.value);
      case "fingerprintId":
        return eq(t.fingerprintId, filter.value);
      case "expirationDate":
        return isAt(t.expiresAt, filter.value);
      default:
        return undefined;
    }
  }
}

function isAt(column: Column, { date, method }: SessionDateFilter): SQL {
  if (date === undefined) throw new Error("validation requires the date");
  return hasTime(column, timestampDate(date), method);
}
