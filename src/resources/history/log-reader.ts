import { isOneOf } from "../../projection/rows.ts";
import type { LoggedEvent } from "../../eventstore/eventstore.ts";
import { type CursorOf, openCursor, type Position, sealCursor } from "../../projection/cursor.ts";
import { readsOfMany } from "../../projection/lengthy.ts";
import type { Deps } from "../../projection/module.ts";
import {
  applicableLimit,
  type Found,
  foundOf,
  type Limits,
  type Page,
  requireOneBeginning,
} from "../../projection/search.ts";
import {
  and,
  asc,
  type Column,
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

export type LogParts = Pick<Deps, "db" | "events" | "now" | "secrets"> & { limits: Limits };

/** An event whose payload may be left out, where the page would be too large. */
export type FoundEvent = LoggedEvent & { isPayloadOmitted: boolean };
export type EventsFound = Found<FoundEvent>;

// A client that was not told otherwise takes messages of 4 MiB.
const mostBytesAPage = 4 << 20;
// A step of a watcher looks at so many events, and holds so much of them in memory.
const mostLooked = 10_000n;
export const mostBytesAStep = 1 << 20;

const largestPosition = 2n ** 63n - 1n;

/** A position in a log. No log gets as far as the database can count. */
export const position = (asked: bigint): bigint =>
  asked < largestPosition ? asked : largestPosition;

/** Where the events of a part of the log are, and how large. */
export type Looked = {
  found: readonly Sized[];
  /** How far the log has been looked through. */
  reached: bigint;
  /** There is nothing behind it yet. */
  isHead: boolean;
};

/** Reads the log of an instance in pages and in steps, as far as audit log retention keeps it. */
export function logReader(parts: LogParts) {
  const retained = retainedIn(parts, parts.db.table(log).createdAt);
  const read = sizedReader(parts);
  return { read, page: pageReader(parts, retained, read), step: stepReader(parts.db, retained) };
}

/**
 * The history of one object, by the kinds of its streams, which all have its ID. A page of it, for slices that show it beside
 * the object, after they have checked that the caller may read that; audit log retention is kept.
 */
export function objectHistory(parts: LogParts) {
  const t = parts.db.table(log);
  const { page: readPage } = logReader(parts);
  type Of = { instanceId: string; types: readonly string[]; id: string };
  return ({ instanceId, types, id }: Of, page: Page): Promise<EventsFound> => {
    const cursors = { secrets: parts.secrets, instanceId, list: JSON.stringify([types, id]) };
    const conditions = [isOneOf(t.aggregateType, types), eq(t.aggregateId, id)];
    return readPage(instanceId, conditions, page, cursors);
  };
}

type Retained = (instanceId: string) => Promise<SQL | undefined>;

/** Keeps what audit log retention lets be seen, by the column of its date. */
export function retainedIn({ db, now }: Pick<Deps, "db" | "now">, date: Column): Retained {
  const retention = current(db, retentionReader(db));
  return async (instanceId) => {
    const ms = await retention("", instanceId);
    return ms === undefined ? undefined : gte(date, new Date(now().getTime() - ms));
  };
}

type Filters = readonly (SQL | undefined)[];

const sizeOf = (t: { payload: unknown }) => sql<number>`length(cast(${t.payload} as text))`;

/** Reads events that were found. They never change, so that can be later; a payload that is left out is not even read. */
function sizedReader({ db, events }: LogParts) {
  const t = db.table(log);
  const { payload: _, ...withoutPayload } = getTableColumns(t);
  return async (instanceId: string, found: readonly Sized[], mostBytes: number) => {
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
  };
}

/** A page, with the head of the log and the number of all that match, as of one moment. */
function pageReader(
  { db, limits }: LogParts,
  retained: Retained,
  read: ReturnType<typeof sizedReader>,
) {
  const t = db.table(log);
  const heads = db.table(sequences);
  // A sequence stands once in a log.
  const behindIn = ({ asc: isAscending }: Page, { value }: Position) =>
    (isAscending ? gt : lt)(t.sequence, value as bigint);

  return async (
    instanceId: string,
    filters: Filters,
    page: Page,
    of: CursorOf,
  ): Promise<EventsFound> => {
    const limit = applicableLimit(page.limit, limits);
    requireOneBeginning(page);
    const list = JSON.stringify(["log", instanceId, page.asc, of.list]);
    const cursors = { ...of, list };
    const after = page.after === "" ? undefined : await openCursor(cursors, page.after);
    const where = and(eq(t.instanceId, instanceId), await retained(instanceId), ...filters);
    const begun = and(where, after?.kind === "behind" ? behindIn(page, after.position) : undefined);
    const ofInstance = eq(heads.instanceId, instanceId);
    const [begin] = await db.read.select({ last: heads.last }).from(heads).where(ofInstance);
    const reads = readsOfMany(db, Number(begin?.last ?? 0n), instanceId);
    const [found, head, totals] = await reads.snapshot((reader) => [
      reader
        .select({ sequence: t.sequence, size: sizeOf(t) })
        .from(t)
        .where(begun)
        .orderBy((page.asc ? asc : desc)(t.sequence))
        .limit(limit + 1)
        .offset(Number(page.offset < largestOffset ? page.offset : largestOffset)),
      reader.select().from(heads).where(ofInstance),
      ...(page.skipTotal
        ? []
        : [
            reader
              .select({ total: sql<bigint>`${count()}` })
              .from(t)
              .where(where),
          ]),
    ]);
    const shown = await foundOf({ looked: found, limit, totals, heads: head }, ({ sequence }) =>
      sealCursor(cursors, { value: sequence, id: "" }),
    );
    return { ...shown, rows: await read(instanceId, shown.rows, mostBytesAPage) };
  };
}

/** A step of somebody who follows the log: what follows a position, as far as one look goes. */
function stepReader(db: LogParts["db"], retained: Retained) {
  const t = db.table(log);
  const heads = db.table(sequences);
  return async (
    instanceId: string,
    filters: Filters,
    { after, most }: { after: bigint; most: number },
  ): Promise<Looked> => {
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
        .select({ sequence: t.sequence, size: sizeOf(t) })
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
