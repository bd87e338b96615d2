import type { SessionMakers } from "../../authz/ports.ts";
import { rowsWhere } from "../../projection/rows.ts";
import type { Deps } from "../../projection/module.ts";
import { endSession } from "./end-sessions.ts";
import { sessions } from "./projection.ts";
import { isLiving } from "./queries.ts";

/** By whom the sessions of a user were made (J20). */
export const sessionMakers = (parts: Pick<Deps, "db" | "secrets" | "now">): SessionMakers => ({
  async ofUser(tx, { instanceId, userId }) {
    const rows = await rowsWhere(parts.db, sessions, { instanceId, userId });
    tx.expectRows(sessions, { instanceId, userId }, rows.length);
    return rows
      .filter((row) => isLiving(row, tx.now))
      .map(({ id, creatorId: makerId, creationDate: createdAt }) => ({ id, makerId, createdAt }));
  },
  async end(tx, at) {
    await endSession(parts, tx, at, "user");
  },
});
