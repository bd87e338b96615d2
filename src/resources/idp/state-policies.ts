import type { Deps } from "../../projection/module.ts";
import { type Page, search } from "../../projection/search.ts";
import { eq, ne } from "../../storage/drizzle.ts";
import type { StatePolicy } from "../object/reuse/state.ts";
import { idpPolicies } from "./projection.ts";

/** Finds what contexts have decided about a provider that they inherit, by the IDs of the contexts. */
export function statePolicySearch({
  db,
  limits,
  secrets,
}: Pick<Deps, "db" | "limits" | "secrets">) {
  const { resourceId, policy, contextId } = db.table(idpPolicies.table);
  return (instanceId: string, idpId: string, page: Page) =>
    search(db, idpPolicies.table, {
      instanceId,
      filters: [eq(resourceId, idpId), ne(policy, "inherit" satisfies StatePolicy)],
      order: contextId,
      idColumn: "contextId",
      page,
      limits,
      cursors: { secrets, instanceId, list: idpId },
    });
}
