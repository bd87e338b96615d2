import {
  TargetFieldNameSchema,
  TargetSearchFilterSchema,
} from "#gen/idsvc/resources/action/v3alpha/query_pb.ts";
import type { Deps } from "../../../projection/module.ts";
import type { Row } from "../../../storage/table.ts";
import { objectQueries } from "../../object/queries.ts";
import { targets } from "./target.ts";

export type TargetRow = Row<typeof targets.table>;

export const targetQueries = (deps: Deps) =>
  objectQueries(
    deps,
    targets.table,
    {
      filter: TargetSearchFilterSchema,
      sort: TargetFieldNameSchema,
      columns: { targetType: "kind", timeout: "timeoutMs", async: "isAsync" },
    },
    targets.missing,
  );
