import type { DeliverySearchFilter } from "#gen/idsvc/resources/action/v3alpha/delivery_pb.ts";
import { notFound } from "../../errors.ts";
import type { Deps } from "../../projection/module.ts";
import { type Found, isOneOf, type Page, search } from "../../projection/search.ts";
import type { Database } from "../../storage/database.ts";
import { and, eq } from "../../storage/drizzle.ts";
import { fromState, fromTrigger } from "./convert.ts";
import { type DeliveryRow, deliveries } from "./table.ts";

/** @throws NOT_FOUND DELIVERY_NOT_FOUND */
export async function getDelivery(
  db: Database,
  instanceId: string,
  id: string,
): Promise<DeliveryRow> {
  const t = db.table(deliveries);
  const [row] = await db.read
    .select()
    .from(t)
    .where(and(eq(t.instanceId, instanceId), eq(t.id, id)));
  if (row === undefined) throw notFound("DELIVERY_NOT_FOUND", "the delivery does not exist");
  return row;
}

export function searchDeliveries(
  { db, limits }: Pick<Deps, "db" | "limits">,
  instanceId: string,
  asked: { filters: DeliverySearchFilter[]; page: Page },
): Promise<Found<DeliveryRow>> {
  const t = db.table(deliveries);
  const condition = ({ filter }: DeliverySearchFilter) => {
    switch (filter.case) {
      case "target":
        return eq(t.targetId, filter.value.id);
      case "execution":
        return eq(t.executionId, filter.value.id);
      case "state":
        return eq(t.state, fromState(filter.value.state));
      case "trigger":
        return eq(t.cause, fromTrigger(filter.value.trigger));
      case "inIds":
        return isOneOf(t.id, filter.value.ids);
      default:
        return undefined;
    }
  };
  return search(db, deliveries, {
    instanceId,
    filters: asked.filters.map(condition),
    order: t.creationDate,
    page: asked.page,
    limits,
  });
}
