import { isOneOf } from "../../../projection/rows.ts";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  RefusalKind,
  type RefusalSchema,
  RefusalSearchFilterSchema,
} from "#gen/idsvc/resources/event/v3alpha/refusal_pb.ts";
import type { Scope } from "../../../authz/context.ts";
import { toOrigin } from "../../../eventstore/origins.ts";
import type { Origin } from "../../../eventstore/presence.ts";
import type { Deps } from "../../../projection/module.ts";
import { eq, type SQL } from "../../../storage/drizzle.ts";
import type { Row } from "../../../storage/table.ts";
import { objectSearch } from "../../object/queries.ts";
import { withinDates } from "../conditions.ts";
import { retainedIn } from "../../history/log-reader.ts";
import { logOf } from "../queries.ts";
import { refusals } from "./table.ts";

type RefusalRow = Row<typeof refusals>;

const kinds: Record<string, RefusalKind> = {
  login: RefusalKind.LOGIN,
  client: RefusalKind.CLIENT,
  call: RefusalKind.CALL,
};

/** Finds refusals that a caller may see; what the retention of the log hides, is hidden here too. */
export function refusalSearch(
  deps: Pick<Deps, "db" | "limits" | "now" | "organizations" | "secrets">,
) {
  const t = deps.db.table(refusals);
  const retained = retainedIn(deps, t.lastAt);

  function reachable({ caller, context, permissions, policy }: Scope): (SQL | undefined)[] {
    const within =
      context.type === "organization" ? eq(t.organizationId, context.organizationId) : undefined;
    if (caller.kind === "system") return [within];
    const reach = permissions.reach(policy.read);
    return reach.everywhere ? [within] : [within, isOneOf(t.organizationId, reach.organizations)];
  }

  return objectSearch(deps, refusals, {
    filter: RefusalSearchFilterSchema,
    order: "lastAt",
    filters: {
      kind: ({ kind }) =>
        isOneOf(
          t.kind,
          Object.keys(kinds).filter((name) => kinds[name] === kind),
        ),
      lastDate: (span) => withinDates(t.lastAt, span),
    },
    visible: async (scope) => [await retained(logOf(scope)), ...reachable(scope)],
    log: logOf,
  });
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
