import {
  TargetFieldNameSchema,
  TargetSearchFilterSchema,
} from "#gen/idsvc/resources/action/v3alpha/query_pb.ts";
import type { Deps } from "../../../projection/module.ts";
import type { Row } from "../../../storage/table.ts";
import { hasId, hasName } from "../../object/filters.ts";
import { objectQueries } from "../../object/queries.ts";
import { targets } from "./target.ts";

export type TargetRow = Row<typeof targets.table>;

export function targetQueries(deps: Deps) {
  const { db } = deps;
  const { id, name, nameFolded } = db.table(targets.table);
  return objectQueries(
    deps,
    targets.table,
    {
      filter: TargetSearchFilterSchema,
      sort: TargetFieldNameSchema,
      columns: { targetType: "kind", timeout: "timeoutMs", async: "isAsync" },
      filters: {
        name: (wanted) => hasName(db, { exact: name, folded: nameFolded }, wanted),
        inIds: (wanted) => hasId(id, wanted),
      },
    },
    targets.missing,
  );
}
