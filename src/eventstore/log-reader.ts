import { and, asc, eq, gt, inArray, parameter, type SQL } from "../storage/drizzle.ts";
import type { Database } from "../storage/database.ts";
import { events } from "../storage/kernel-tables.ts";
import type { Row } from "../storage/table.ts";
import type { OwnerRef } from "./event.ts";
import type { EventStore, EventFilter, LoggedEvent } from "./eventstore.ts";
import type { PayloadCodec } from "./payload-codec.ts";

const openedAtOnce = 64;

/** Reads the log; what tells of persons is opened with their keys. */
export type LogReader = Pick<EventStore, "read" | "open"> & {
  openAll(rows: readonly Row<typeof events>[]): Promise<LoggedEvent[]>;
};

export function createLogReader(db: Database, codec: PayloadCodec): LogReader {
  const t = db.table(events);

  const open = async (row: Row<typeof events>): Promise<LoggedEvent> => ({
    type: row.type,
    payload: await codec.open(row.type, row.payload, row.instanceId, row.aggregateId),
    instanceId: row.instanceId,
    sequence: row.sequence,
    aggregateType: row.aggregateType,
    aggregateId: row.aggregateId,
    aggregateVersion: row.aggregateVersion,
    revision: row.revision,
    owner: { type: ownerType(row.ownerType), id: row.ownerId },
    editorId: row.editorId,
    service: row.service,
    clientId: row.clientId,
    requestId: row.requestId,
    createdAt: row.createdAt,
    ...(row.originId === null ? {} : { originId: row.originId }),
  });

  // As followers read the log after each commit.
  const log = db.read
    .select()
    .from(t)
    .where(and(eq(t.instanceId, parameter("instanceId")), gt(t.sequence, parameter("after"))))
    .orderBy(asc(t.sequence))
    .limit(parameter("limit"))
    .prepare("read_log");

  async function read(filter: EventFilter): Promise<LoggedEvent[]> {
    const { instanceId, after, limit } = filter;
    if (after !== undefined && limit !== undefined && !filter.types && !filter.aggregate)
      return openAll(await log.execute({ instanceId, after, limit }));
    const where: (SQL | undefined)[] = [eq(t.instanceId, filter.instanceId)];
    if (filter.after !== undefined) where.push(gt(t.sequence, filter.after));
    if (filter.types !== undefined) where.push(inArray(t.type, filter.types));
    if (filter.aggregate !== undefined) {
      where.push(
        eq(t.aggregateType, filter.aggregate.type),
        eq(t.aggregateId, filter.aggregate.id),
      );
    }
    const query = db.read
      .select()
      .from(t)
      .where(and(...where))
      .orderBy(asc(t.sequence));
    const rows = await (filter.limit === undefined ? query : query.limit(filter.limit));
    return openAll(rows);
  }

  async function openAll(rows: readonly Row<typeof events>[]): Promise<LoggedEvent[]> {
    const opened: LoggedEvent[] = [];
    // Each may ask for the key of a person, and whoever waits too long for a connection is refused.
    for (let at = 0; at < rows.length; at += openedAtOnce) {
      opened.push(...(await Promise.all(rows.slice(at, at + openedAtOnce).map(open))));
    }
    return opened;
  }

  return { read, open, openAll };
}

function ownerType(value: string): OwnerRef["type"] {
  if (value === "system" || value === "instance" || value === "org") return value;
  throw new Error(`an event is owned by ${value}, which is no kind of owner`);
}
