import { rowsWhere } from "../../projection/rows.ts";
import {
  SignInFieldNameSchema,
  SignInSearchFilterSchema,
} from "#gen/idsvc/resources/signin/v3alpha/query_pb.ts";
import { rowByKey } from "../../projection/ids.ts";
import type { Deps } from "../../projection/module.ts";
import { gt, isNull, ne, or, sql } from "../../storage/drizzle.ts";
import type { Row } from "../../storage/table.ts";
import { objectSearch } from "../object/queries.ts";
import { isLiving, sessions } from "../session/index.ts";

export type SessionRow = Row<typeof sessions>;

/**
 * A sign-in is shown by the oldest of its sessions that has not ended: none of the same user in the same browser is older. It is a value and
 * no `not exists`, so that it is looked for by index for each session of a page, and never joined with all visits.
 * @param now in milliseconds since the epoch
 */
const isOldest = (now: number) => sql`(
  select 1 from session_visits as own
    join session_visits as other on other.instance_id = own.instance_id and other.user_id = own.user_id
      and other.browser_id = own.browser_id and other.id <> own.id
    join sessions as older on older.instance_id = other.instance_id and older.id = other.id
  where own.instance_id = sessions.instance_id and own.id = sessions.id
    and (older.expires_at is null or older.expires_at > ${now})
    and (older.creation_date, older.id) < (sessions.creation_date, sessions.id)
  limit 1
) is null`;

export function signInQueries(deps: Deps) {
  const { db, now, tenancy } = deps;
  const { organizationId, userId, expiresAt } = db.table(sessions);
  const rowOf = rowByKey(db, sessions);
  return {
    /** A session that has not ended, of a user who is known. */
    async find(instanceId: string, id: string): Promise<SessionRow | undefined> {
      await db.catchUp();
      const row = await rowOf(instanceId, id);
      return row !== undefined && row.userId !== "" && isLiving(row, now()) ? row : undefined;
    },
    /** Those of some sessions that have not ended, the oldest first. */
    async living(instanceId: string, ids: readonly string[]): Promise<SessionRow[]> {
      const order = ["creationDate", "id"] as const;
      const rows = await rowsWhere(db, sessions, { instanceId, id: ids }, order);
      return rows.filter((row) => isLiving(row, now()));
    },
    search: objectSearch(deps, sessions, {
      filter: SignInSearchFilterSchema,
      sort: SignInFieldNameSchema,
      visible: async (scope) => [
        ne(userId, ""),
        or(isNull(expiresAt), gt(expiresAt, now())),
        isOldest(now().getTime()),
        ...(await tenancy.visible(scope, { organizationId, userId })),
      ],
    }),
  };
}
