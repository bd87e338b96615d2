import type { MessageInitShape } from "@bufbuild/protobuf";
import type { PreviewIDPStatePolicyResponseSchema } from "#gen/idsvc/resources/idp/v3alpha/identity_provider_service_pb.ts";
import type { OwnerRef } from "../../eventstore/event.ts";
import type { SomeIds } from "../../projection/ids.ts";
import type { Database } from "../../storage/database.ts";
import { hasRow } from "../../projection/rows.ts";
import { type Column, eq, ne, not, type SQL } from "../../storage/drizzle.ts";
import { toState } from "../object/filters.ts";
import { organizationsWhere } from "../org/index.ts";
import type { SeenResource } from "../object/reuse/reuse.ts";
import { effectiveState, type StatePolicy } from "../object/reuse/state.ts";
import { idpPolicies } from "./projection.ts";
import type { IdpRow } from "./queries.ts";

/** Keeps the rows of some organizations, by the column that says whose a row is. */
export type InOrganizations = (organizationId: Column) => SQL | undefined;

/** Who else feels it when a provider changes its state in organizations; each tells the total, and the ids of some. */
export type Affected = {
  linkedUsers(
    instanceId: string,
    idpId: string,
    within: InOrganizations,
    limit: number,
  ): Promise<SomeIds>;
  apps(instanceId: string, within: InOrganizations, limit: number): Promise<SomeIds>;
};

const mostTold = 100;
const nobody: SomeIds = { total: 0n, ids: [] };

type Asked = { row: IdpRow; context: OwnerRef; seen: SeenResource; policy: StatePolicy };

/** What another policy of a context would change: in the context itself, and in those that inherit from it. */
export async function previewPolicy(
  db: Database,
  affected: Affected,
  { row, context, seen, policy }: Asked,
): Promise<MessageInitShape<typeof PreviewIDPStatePolicyResponseSchema>> {
  const { instanceId, id } = row;
  const above: StatePolicy[] = seen.parent === undefined ? [] : [row.statePolicy as StatePolicy];
  const after = effectiveState([...above, policy]);
  const states = { stateBefore: toState(seen.state), stateAfter: toState(after) };
  const within = context.type === "org" ? isOrganization(context.id) : inheriting(db, row);
  const [organizations, users, apps] =
    after === seen.state
      ? [nobody, nobody, nobody]
      : await Promise.all([
          organizationsWhere(db, instanceId, within, mostTold),
          affected.linkedUsers(instanceId, id, within, mostTold),
          affected.apps(instanceId, within, mostTold),
        ]);
  return { ...states, organizations, users, apps };
}

const isOrganization =
  (id: string): InOrganizations =>
  (organizationId) =>
    eq(organizationId, id);

// All organizations but those that decide for themselves.
function inheriting(db: Database, { instanceId, id }: IdpRow): InOrganizations {
  const p = db.table(idpPolicies.table);
  return (contextId) => {
    const decides = ne(p.policy, "inherit" satisfies StatePolicy);
    return not(hasRow(db, idpPolicies.table, { instanceId, resourceId: id, contextId }, decides));
  };
}
