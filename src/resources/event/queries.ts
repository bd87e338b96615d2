import {
  type EventSearchFilter,
  EventSearchFilterSchema,
} from "#gen/idsvc/resources/event/v3alpha/query_pb.ts";
import type { Scope } from "../../authz/context.ts";
import { isOneOf, rowsWhere } from "../../projection/rows.ts";
import type { Deps } from "../../projection/module.ts";
import { type Page } from "../../projection/search.ts";
import { and, eq, type SQL } from "../../storage/drizzle.ts";
import { events as log, sequences } from "../../storage/kernel-tables.ts";
import { listName } from "../object/list.ts";
import { condition } from "./conditions.ts";
import {
  type EventsFound,
  type LogParts,
  logReader,
  mostBytesAStep,
  type Sized,
} from "../history/log-reader.ts";

type Parts = LogParts & Pick<Deps, "organizations">;

/** The log of the system context, as opposed to that of an instance. */
const systemLog = "system";
export const logOf = ({ context, instanceId }: Scope): string =>
  context.type === "system" ? systemLog : instanceId;

/** What a caller may see of a log and asks for: two views of one key show the same. */
export type LogView = { key: string; conditions: readonly (SQL | undefined)[] };

export function eventQueries(parts: Parts) {
  const { db, events, organizations } = parts;
  const t = db.table(log);
  const readLog = logReader(parts);

  /** The organizations whose events the caller sees, in order; absent where that is everything: system callers see every log. */
  async function visibleTo(scope: Scope): Promise<string[] | undefined> {
    const { caller, context, instanceId, permissions, policy } = scope;
    const named = context.type === "organization" ? [context.organizationId] : undefined;
    if (caller.kind === "system") return named;
    const reach = permissions.reach(policy.read);
    if (reach.everywhere) return named;
    const alive: string[] = [];
    for (const id of reach.organizations) {
      if (named?.includes(id) === false) continue;
      if ((await organizations.byId(instanceId, id)) !== undefined) alive.push(id);
    }
    return alive.sort();
  }

  const matching = (filters: readonly EventSearchFilter[]) =>
    filters.map((each) => condition(t, events.eventTypes, each));

  return {
    async search(scope: Scope, filters: EventSearchFilter[], page: Page): Promise<EventsFound> {
      const visible = await visibleTo(scope);
      const conditions = [visible && isOwnedBy(t, visible), ...matching(filters)];
      const list = listName(EventSearchFilterSchema, filters, scope.context);
      const cursors = { secrets: parts.secrets, instanceId: scope.instanceId, list };
      return readLog.page(logOf(scope), conditions, page, cursors);
    },

    /** The last position of the log. */
    async head(scope: Scope): Promise<bigint> {
      const [row] = await rowsWhere(db, sequences, { instanceId: logOf(scope) });
      return row?.last ?? 0n;
    },

    /** Gives the view of a caller, as it is whenever it is asked for. */
    viewer(filters: readonly EventSearchFilter[]): (scope: Scope) => Promise<LogView> {
      const asked = listName(EventSearchFilterSchema, filters);
      const kept = matching(filters);
      return async (scope) => {
        const visible = await visibleTo(scope);
        return {
          key: `${visible?.join() ?? "*"} ${asked}`,
          conditions: [visible && isOwnedBy(t, visible), ...kept],
        };
      };
    },

    /** Looks for what follows a position: up to `most` events, or fewer where they are large, but never none of them. */
    look: (instanceId: string, view: LogView, from: { after: bigint; most: number }) =>
      readLog.step(instanceId, view.conditions, from),

    /** Reads events that were found. */
    open: (instanceId: string, found: readonly Sized[]) =>
      readLog.read(instanceId, found, mostBytesAStep),
  };
}

type LogTable = { ownerType: Parameters<typeof eq>[0]; ownerId: Parameters<typeof isOneOf>[0] };

const isOwnedBy = (t: LogTable, organizationIds: readonly string[]) =>
  and(eq(t.ownerType, "org"), isOneOf(t.ownerId, organizationIds));
