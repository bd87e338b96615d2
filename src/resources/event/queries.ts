import {
  type EventSearchFilter,
  EventSearchFilterSchema,
} from "#gen/idsvc/resources/event/v3alpha/query_pb.ts";
import type { Scope } from "../../authz/context.ts";
import type { LoggedEvent } from "../../eventstore/eventstore.ts";
import type { Deps } from "../../projection/module.ts";
import { type CursorOf, openCursor, type Position, sealCursor } from "../../projection/cursor.ts";
import {
  applicableLimit,
  type Found,
  isOneOf,
  type Limits,
  type Page,
  requireOneBeginning,
} from "../../projection/search.ts";
import {
  and,
  asc,
  count,
  desc,
  eq,
  getTableColumns,
  gt,
  gte,
  lt,
  lte,
  type SQL,
  sql,
} from "../../storage/drizzle.ts";
import { events as log, sequences } from "../../storage/kernel-tables.ts";
import { current } from "../../storage/read-cache.ts";
import { retentionReader } from "../instance/index.ts";
import { listName } from "../object/list.ts";
import { condition, position } from "./conditions.ts";

type Parts = Pick<Deps, "db" | "events" | "now" | "organizations" | "secrets"> & {
  limits: Limits;
};

/** An event whose payload may be left out, where the page would be too large. */
export type FoundEvent = LoggedEvent & { isPayloadOmitted: boolean };
export type EventsFound = Found<FoundEvent>;

/** The log of the system context, as opposed to that of an instance. */
const systemLog = "system";
export const logOf = ({ context, instanceId }: Scope): string =>
  context.type === "system" ? systemLog : instanceId;

// A client that was not told otherwise takes messages of 4 MiB.
const mostBytesAPage = 4 << 20;
// A step of a watcher looks at so many events, and holds so much of them in memory.
const mostLooked = 10_000n;
const mostBytesAStep = 1 << 20;

/** What a caller may see of a log and asks for: two views of one key show the same. */
export type LogView = { key: string; conditions: readonly (SQL | undefined)[] };

/** Where the events of a part of the log are, and how large. */
export type Looked = {
  found: readonly Sized[];
  /** How far the log has been looked through. */
  reached: bigint;
  /** There is nothing behind it yet. */
  isHead: boolean;
};

export function eventQueries(parts: Parts) {
  const { db, events, organizations } = parts;
  const t = db.table(log);
  const heads = db.table(sequences);
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
      const [row] = await db.read
        .select()
        .from(heads)
        .where(eq(heads.instanceId, logOf(scope)));
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

/** Which history is asked for: that of one object. */
export type HistoryOf = {
  instanceId: string;
  /** The kinds of its streams, which all have its ID. */
  types: readonly string[];
  id: string;
};

/**
 * The history of one object, a page of it: for slices that show it beside the object, after they have checked that the
 * caller may read that. Audit log retention is kept.
 */
export function objectHistory(
  parts: Omit<Parts, "organizations">,
): (of: HistoryOf, page: Page) => Promise<EventsFound> {
  const t = parts.db.table(log);
  const { page: readPage } = logReader(parts);
  return ({ instanceId, types, id }, page) => {
    const cursors = { secrets: parts.secrets, instanceId, list: JSON.stringify([types, id]) };
    const conditions = [isOneOf(t.aggregateType, types), eq(t.aggregateId, id)];
    return readPage(instanceId, conditions, page, cursors);
  };
}

type LogTable = { ownerType: Parameters<typeof eq>[0]; ownerId: Parameters<typeof isOneOf>[0] };

const isOwnedBy = (t: LogTable, organizationIds: readonly string[]) =>
  and(eq(t.ownerType, "org"), isOneOf(t.ownerId, organizationIds));

function logReader({ db, events, limits, now }: Omit<Parts, "organizations">) {
  const t = db.table(log);
  const heads = db.table(sequences);
  const retention = current(db, retentionReader(db));
  const { payload: _, ...withoutPayload } = getTableColumns(t);
  const size = sql<number>`length(cast(${t.payload} as text))`;

  async function retained(instanceId: string): Promise<SQL | undefined> {
    const ms = await retention("", instanceId);
    return ms === undefined ? undefined : gte(t.createdAt, new Date(now().getTime() - ms));
  }

  // Events never change, so what was found can be read afterwards. A payload that is left out is not even read.
  async function read(instanceId: string, found: readonly Sized[], mostBytes: number) {
    let bytes = 0;
    const fitting = found.filter((each) => {
      const fits = bytes === 0 || bytes + Number(each.size) <= mostBytes;
      if (fits) bytes += Number(each.size);
      return fits;
    });
    const omitted = found.filter((each) => !fitting.includes(each));
    const rowsOf = (some: readonly Sized[]) =>
      and(
        eq(t.instanceId, instanceId),
        isOneOf(
          t.sequence,
          some.map(({ sequence }) => sequence),
        ),
      );
    const whole = await db.read.select().from(t).where(rowsOf(fitting));
    const bare =
      omitted.length === 0
        ? []
        : await db.read.select(withoutPayload).from(t).where(rowsOf(omitted));
    const opened = new Map<bigint, FoundEvent>();
    for (const row of whole) {
      opened.set(row.sequence, { ...(await events.open(row)), isPayloadOmitted: false });
    }
    for (const row of bare) {
      const event = await events.open({ ...row, payload: {} });
      opened.set(row.sequence, { ...event, isPayloadOmitted: true });
    }
    return found.flatMap(({ sequence }) => opened.get(sequence) ?? []);
  }

  // A sequence stands once in a log.
  const behindIn = ({ asc: isAscending }: Page, { value }: Position) =>
    (isAscending ? gt : lt)(t.sequence, value as bigint);

  return {
    read,

    async page(
      instanceId: string,
      filters: readonly (SQL | undefined)[],
      page: Page,
      of: CursorOf,
    ): Promise<EventsFound> {
      const limit = applicableLimit(page.limit, limits);
      requireOneBeginning(page);
      const list = JSON.stringify(["log", instanceId, page.asc, of.list]);
      const cursors = { ...of, list };
      const after = page.after === "" ? undefined : await openCursor(cursors, page.after);
      const where = and(eq(t.instanceId, instanceId), await retained(instanceId), ...filters);
      const begun = and(
        where,
        after?.kind === "behind" ? behindIn(page, after.position) : undefined,
      );
      const [found, head, totals] = await db.snapshot((reader) => [
        reader
          .select({ sequence: t.sequence, size })
          .from(t)
          .where(begun)
          .orderBy((page.asc ? asc : desc)(t.sequence))
          .limit(limit + 1)
          .offset(Number(page.offset < largestOffset ? page.offset : largestOffset)),
        reader.select().from(heads).where(eq(heads.instanceId, instanceId)),
        ...(page.skipTotal
          ? []
          : [
              reader
                .select({ total: sql<bigint>`${count()}` })
                .from(t)
                .where(where),
            ]),
      ]);
      const shown = found.slice(0, limit);
      const last = shown.at(-1);
      const endOfList = found.length <= limit;
      const next =
        endOfList || last === undefined
          ? ""
          : await sealCursor(cursors, { value: last.sequence, id: "" });
      return {
        rows: await read(instanceId, shown, mostBytesAPage),
        total: BigInt(totals?.[0]?.total ?? 0n),
        appliedLimit: limit,
        endOfList,
        next,
        head: { sequence: head[0]?.last ?? 0n, changedAt: head[0]?.changedAt ?? new Date(0) },
      };
    },

    async step(
      instanceId: string,
      filters: readonly (SQL | undefined)[],
      { after, most }: { after: bigint; most: number },
    ): Promise<Looked> {
      const end = position(after + mostLooked);
      const where = and(
        eq(t.instanceId, instanceId),
        gt(t.sequence, after),
        lte(t.sequence, end),
        await retained(instanceId),
        ...filters,
      );
      const [found, head] = await db.snapshot((reader) => [
        reader
          .select({ sequence: t.sequence, size })
          .from(t)
          .where(where)
          .orderBy(asc(t.sequence))
          .limit(most),
        reader.select().from(heads).where(eq(heads.instanceId, instanceId)),
      ]);
      const last = head[0]?.last ?? 0n;
      const taken = withinBytes(found);
      const isAll = taken.length === found.length && found.length < most;
      const looked = last < end ? last : end;
      const reached = isAll ? looked : (taken.at(-1)?.sequence ?? looked);
      return {
        found: taken,
        reached: reached < after ? after : reached,
        isHead: reached >= last,
      };
    },
  };
}

/** Where an event stands, and the length of its payload. */
export type Sized = { sequence: bigint; size: number };

const largestOffset = 2n ** 53n;

/** The first of them that together are not too large, and at least one. */
function withinBytes(found: readonly Sized[]): readonly Sized[] {
  let bytes = 0;
  const end = found.findIndex((each, nth) => {
    bytes += Number(each.size);
    return nth > 0 && bytes > mostBytesAStep;
  });
  return end === -1 ? found : found.slice(0, end);
}
