import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  RefusalKind,
  type RefusalSchema,
  type RefusalSearchFilter,
} from "#gen/idsvc/resources/event/v3alpha/refusal_pb.ts";
import type { Scope } from "../../../authz/context.ts";
import { toOrigin } from "../../../eventstore/origins.ts";
import type { Origin } from "../../../eventstore/presence.ts";
import type { Deps } from "../../../projection/module.ts";
import { type Found, isOneOf, type Page, search } from "../../../projection/search.ts";
import { eq, gte, type SQL } from "../../../storage/drizzle.ts";
import { current } from "../../../storage/read-cache.ts";
import type { Row } from "../../../storage/table.ts";
import { retentionReader } from "../../instance/index.ts";
import { withinDates } from "../conditions.ts";
import { logOf } from "../queries.ts";
import { refusals } from "./table.ts";

type RefusalRow = Row<typeof refusals>;

const kinds: Record<string, RefusalKind> = {
  login: RefusalKind.LOGIN,
  client: RefusalKind.CLIENT,
  call: RefusalKind.CALL,
};

/** Refusals that a caller may see; what the retention of the log hides, is hidden here too. */
export function refusalQueries({ db, limits, now }: Pick<Deps, "db" | "limits" | "now">) {
  const t = db.table(refusals);
  const retention = current(db, retentionReader(db));

  async function retained(instanceId: string): Promise<SQL | undefined> {
    const ms = await retention("", instanceId);
    return ms === undefined ? undefined : gte(t.lastAt, new Date(now().getTime() - ms));
  }

  function condition({ filter }: RefusalSearchFilter): SQL | undefined {
    switch (filter.case) {
      case "kind": {
        const { kind } = filter.value;
        return isOneOf(
          t.kind,
          Object.keys(kinds).filter((name) => kinds[name] === kind),
        );
      }
      case "user":
        return eq(t.userId, filter.value.id);
      case "client":
        return eq(t.clientId, filter.value.id);
      case "lastDate":
        return withinDates(t.lastAt, filter.value);
      default:
        return undefined;
    }
  }

  function visible({ caller, context, permissions, policy }: Scope): (SQL | undefined)[] {
    const within =
      context.type === "organization" ? eq(t.organizationId, context.organizationId) : undefined;
    if (caller.kind === "system") return [within];
    const reach = permissions.reach(policy.read);
    return reach.everywhere ? [within] : [within, isOneOf(t.organizationId, reach.organizations)];
  }

  return {
    async search(
      scope: Scope,
      filters: RefusalSearchFilter[],
      page: Page,
    ): Promise<Found<RefusalRow>> {
      const instanceId = logOf(scope);
      const asked = filters.map(condition);
      return search(db, refusals, {
        instanceId,
        filters: [await retained(instanceId), ...visible(scope), ...asked],
        order: t.lastAt,
        ...{ page, limits },
      });
    },
  };
}

/** Where a refusal came from, as an origin of events. */
export const originIn = async (
  { events, now }: Pick<Deps, "events" | "now">,
  row: RefusalRow,
): Promise<Origin> => toOrigin(row, await events.seen.open(row, now()));

export const toRefusal = (
  row: RefusalRow,
  origin: MessageInitShape<typeof RefusalSchema>["origin"],
): MessageInitShape<typeof RefusalSchema> => ({
  id: row.id,
  kind: kinds[row.kind] ?? RefusalKind.UNSPECIFIED,
  reason: row.reason,
  userId: row.userId ?? "",
  clientId: row.clientId ?? "",
  identityProviderId: row.idpId ?? "",
  operation: row.operation,
  organizationId: row.organizationId,
  count: row.count,
  firstDate: timestampFromDate(row.firstAt),
  lastDate: timestampFromDate(row.lastAt),
  ...(origin && { origin }),
});
