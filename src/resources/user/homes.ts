import type { HomesOf } from "../event/index.ts";
import { equals } from "../../projection/rows.ts";
import type { Database } from "../../storage/database.ts";
import { users } from "./projection.ts";

/** Reads the organizations that users belong to. */
export function homesReader(db: Database): HomesOf {
  const t = db.table(users);
  return async (instanceId, ids) => {
    if (ids.length === 0) return new Map();
    const rows = await db.read
      .select({ id: t.id, organizationId: t.organizationId })
      .from(t)
      .where(equals(db, users, { instanceId, id: ids }));
    return new Map(rows.map(({ id, organizationId }) => [id, organizationId]));
  };
}
