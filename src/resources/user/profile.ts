import { columnsWhere } from "../../projection/rows.ts";
import { rowByKey } from "../../projection/ids.ts";
import type { Database } from "../../storage/database.ts";
import { cachedRead } from "../../storage/read-cache.ts";
import type { Row } from "../../storage/table.ts";
import { userMetadata } from "./metadata-projection.ts";
import { users } from "./projection.ts";

/** What tokens may tell of a user. */
export type UserProfile = Row<typeof users>;

/** The profile of a user, from memory where no user has changed. */
export const profileReader = (db: Database) => cachedRead(db, [users], rowByKey(db, users));

// Values are up to half a megabyte: few users' are remembered.
const mostRemembered = 100;

/** The metadata of a user by key, in base64url without padding. */
export function metadataReader(db: Database) {
  return cachedRead<Record<string, string>>(
    db,
    [userMetadata],
    async (instanceId, userId) => {
      const of = { instanceId, userId };
      const rows = await columnsWhere(db, userMetadata, ["id", "value"], of, ["id"]);
      return Object.fromEntries(
        rows.map(({ id, value }) => [id, Buffer.from(value).toString("base64url")]),
      );
    },
    mostRemembered,
  );
}
