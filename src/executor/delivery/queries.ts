import { rowWhere } from "../../projection/rows.ts";
import { DeliverySearchFilterSchema } from "#gen/idsvc/resources/action/v3alpha/delivery_pb.ts";
import { notFound } from "../../errors.ts";
import type { Deps } from "../../projection/module.ts";
import type { Database } from "../../storage/database.ts";
import { eq } from "../../storage/drizzle.ts";
import { objectSearch } from "../../resources/object/queries.ts";
import { fromState, fromTrigger } from "./convert.ts";
import { type DeliveryRow, deliveries } from "./table.ts";

/** @throws NOT_FOUND DELIVERY_NOT_FOUND */
export async function getDelivery(
  db: Database,
  instanceId: string,
  id: string,
): Promise<DeliveryRow> {
  const row = await rowWhere(db, deliveries, { instanceId, id });
  if (row === undefined) throw notFound("DELIVERY_NOT_FOUND", "the delivery does not exist");
  return row;
}

export const deliverySearch = (deps: Pick<Deps, "db" | "limits" | "organizations" | "secrets">) => {
  const t = deps.db.table(deliveries);
  return objectSearch(deps, deliveries, {
    filter: DeliverySearchFilterSchema,
    filters: {
      state: ({ state }) => eq(t.state, fromState(state)),
      trigger: ({ trigger }) => eq(t.cause, fromTrigger(trigger)),
    },
  });
};
