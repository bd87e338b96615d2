import { isOneOf } from "../../projection/rows.ts";
import {
  DomainFieldNameSchema,
  DomainSearchFilterSchema,
} from "#gen/idsvc/resources/domain/v3alpha/query_pb.ts";
import type { Scope } from "../../authz/context.ts";
import { domainPermission } from "../../authz/roles.ts";
import type { Deps } from "../../projection/module.ts";
import { eq, or, type SQL, sql } from "../../storage/drizzle.ts";
import type { Row } from "../../storage/table.ts";
import { objectQueries } from "../object/queries.ts";
import { domainNotFound } from "../org/index.ts";
import { domains } from "./projection.ts";

export type DomainRow = Row<typeof domains>;

export function domainQueries(deps: Deps) {
  const { organizationId, isProven, isVerified } = deps.db.table(domains);

  // The instance's own and those of organizations are guarded by permissions of their own.
  function readable({ permissions }: Scope): SQL | undefined {
    const { everywhere, organizations: within } = permissions.reach(
      domainPermission("organization", "read"),
    );
    const ofInstance = permissions.holds(domainPermission("instance", "read"), {
      type: "instance",
    });
    if (everywhere && ofInstance) return undefined;
    return or(
      ofInstance ? eq(organizationId, "") : sql`1 = 0`,
      everywhere ? sql`${organizationId} <> ''` : isOneOf(organizationId, within),
    );
  }

  return objectQueries(
    deps,
    domains,
    {
      filter: DomainSearchFilterSchema,
      sort: DomainFieldNameSchema,
      filters: {
        verified: (wanted) => eq(isVerified, wanted.isVerified),
        proven: (wanted) => eq(isProven, wanted.isProven),
      },
      visible: async (scope) => [
        readable(scope),
        ...(await deps.tenancy.living(scope, { organizationId })),
      ],
    },
    domainNotFound,
  );
}
