import {
  TargetFieldNameSchema,
  TargetSearchFilterSchema,
} from "#gen/idsvc/resources/action/v3alpha/query_pb.ts";
import type { Deps } from "../../../projection/module.ts";
import type { Row } from "../../../storage/table.ts";
import { hasId, hasName } from "../../object/filters.ts";
import { objectQueries } from "../../object/queries.ts";
import { targets } from "./projection.ts";
import { targetNotFound } from "./target.ts";

export type TargetRow = Row<typeof targets>;

export function targetQueries(deps: Deps) {
  const { db } = deps;
  const { id, name, nameFolded } = db.table(targets);
  return objectQueries(
    deps,
    targets,
    {
      filter: TargetSearchFilterSchema,
      sort: TargetFieldNameSchema,
      columns: { targetType: "kind", timeout: "timeoutMs", async: "isAsync" },
      filters: {
        name: (wanted) => hasName(db, { exact: name, folded: nameFolded }, wanted),
        inIds: (wanted) => hasId(id, wanted),
      },
    },
    targetNotFound,
  );
}
