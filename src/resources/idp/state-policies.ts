import { type CursorOf, openCursor, sealCursor } from "../../projection/cursor.ts";
import type { Deps } from "../../projection/module.ts";
import {
  applicableLimit,
  type Found,
  foundOf,
  type Page,
  requireOneBeginning,
} from "../../projection/search.ts";
import { and, asc, count, desc, eq, gt, lt, ne, sql } from "../../storage/drizzle.ts";
import { sequences } from "../../storage/kernel-tables.ts";
import type { Row } from "../../storage/table.ts";
import type { StatePolicy } from "../reuse/index.ts";
import { idpPolicies } from "./projection.ts";

export type DecidedRow = Row<typeof idpPolicies.table>;

const largestOffset = 2n ** 53n;

/** Finds what contexts have decided about a provider that they inherit, by the IDs of the contexts: a part of the key of the table. */
export function statePolicySearch({
  db,
  limits,
  secrets,
}: Pick<Deps, "db" | "limits" | "secrets">) {
  const p = db.table(idpPolicies.table);
  const heads = db.table(sequences);

  return async (instanceId: string, idpId: string, page: Page): Promise<Found<DecidedRow>> => {
    const limit = applicableLimit(page.limit, limits);
    requireOneBeginning(page);
    const list = JSON.stringify(["idp state policies", idpId, page.asc]);
    const cursors: CursorOf = { secrets, instanceId, list };
    const place = page.after === "" ? undefined : await openCursor(cursors, page.after);
    const after = place?.kind === "behind" ? place.position.id : undefined;
    const where = and(
      eq(p.instanceId, instanceId),
      eq(p.resourceId, idpId),
      ne(p.policy, "inherit" satisfies StatePolicy),
    );
    const begun = and(
      where,
      after === undefined ? undefined : (page.asc ? gt : lt)(p.contextId, after),
    );
    const [found, head, totals] = await db.snapshot((read) => [
      read
        .select()
        .from(p)
        .where(begun)
        .orderBy((page.asc ? asc : desc)(p.contextId))
        .limit(limit + 1)
        .offset(Number(page.offset < largestOffset ? page.offset : largestOffset)),
      read.select().from(heads).where(eq(heads.instanceId, instanceId)),
      ...(page.skipTotal
        ? []
        : [
            read
              .select({ total: sql<bigint>`${count()}` })
              .from(p)
              .where(where),
          ]),
    ]);
    return foundOf({ looked: found, limit, totals, heads: head }, ({ contextId }) =>
      sealCursor(cursors, { value: null, id: contextId }),
    );
  };
}
