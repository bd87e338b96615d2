import type { HomesOf } from "../history/origins.ts";
import { columnsWhere } from "../../projection/rows.ts";
import type { Database } from "../../storage/database.ts";
import { users } from "./projection.ts";

/** Reads the organizations that users belong to. */
export function homesReader(db: Database): HomesOf {
  return async (instanceId, ids) => {
    if (ids.length === 0) return new Map();
    const rows = await columnsWhere(db, users, ["id", "organizationId"], { instanceId, id: ids });
    return new Map(rows.map(({ id, organizationId }) => [id, organizationId]));
  };
}
