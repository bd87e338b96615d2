import {
  ConsentFieldNameSchema,
  ConsentSearchFilterSchema,
} from "#gen/idsvc/resources/consent/v3alpha/query_pb.ts";
import type { Deps } from "../../projection/module.ts";
import type { Row } from "../../storage/table.ts";
import { objectQueries } from "../object/queries.ts";
import { consentNotFound } from "./consent.ts";
import { consents } from "./projection.ts";

export type ConsentRow = Row<typeof consents>;

export function consentQueries(deps: Deps) {
  const { organizationId, userId } = deps.db.table(consents);
  return objectQueries(
    deps,
    consents,
    {
      filter: ConsentSearchFilterSchema,
      sort: ConsentFieldNameSchema,
      visible: (scope) => deps.tenancy.visible(scope, { organizationId, userId }),
    },
    consentNotFound,
  );
}
