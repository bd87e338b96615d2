import type { TokensInName } from "../../authz/ports.ts";
import type { Deps } from "../../projection/module.ts";
import { and, eq, isNotNull } from "../../storage/drizzle.ts";
import { deleteRows } from "../../storage/row-change.ts";
import type { Actor } from "../core/ports.ts";
import { accessTokens, oidcSessions } from "./tables.ts";

// Beyond so many one change of rows takes them all, which looks at the whole table in the unit.
const mostSingle = 1_000;

/** Who acts for a user by what was issued in the user's name (J20). */
export const tokensInName = ({ db }: Pick<Deps, "db">): TokensInName => ({
  async actors({ instanceId, userId }) {
    const t = db.table(oidcSessions);
    const rows = await db.read
      .select({ actor: t.actor })
      .from(t)
      .where(and(eq(t.instanceId, instanceId), eq(t.userId, userId), isNotNull(t.actor)));
    return [...new Set(rows.flatMap(({ actor }) => chainOf(actor ?? undefined)))];
  },

  async endOfMachine(tx, { instanceId, userId }) {
    const t = db.table(accessTokens);
    const all = { instanceId, userId, oidcSessionId: "" };
    const rows = await db.read
      .select({ digest: t.digest })
      .from(t)
      .where(and(eq(t.instanceId, instanceId), eq(t.userId, userId), eq(t.oidcSessionId, "")))
      .limit(mostSingle + 1);
    const changes =
      rows.length > mostSingle
        ? [deleteRows(accessTokens, all)]
        : rows.map(({ digest }) => deleteRows(accessTokens, { instanceId, digest }));
    tx.write(...changes);
  },
});

const chainOf = (actor: Actor | undefined): readonly string[] =>
  actor === undefined ? [] : [actor.sub, ...chainOf(actor.act)];
