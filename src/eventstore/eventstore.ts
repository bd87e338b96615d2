import { and, asc, eq, gt, inArray, type SQL, sql } from "../storage/drizzle.ts";
import type { Database } from "../storage/database.ts";
import { events } from "../storage/kernel-tables.ts";
import type { RowChange } from "../storage/row-change.ts";
import type { Row } from "../storage/table.ts";
import type { Aggregate } from "./aggregate.ts";
import {
  type AnyEvents,
  definition,
  type NewEvent,
  type OwnerRef,
  type Recorded,
} from "./event.ts";
import { createSnapshotCache, type Fold } from "./snapshot-cache.ts";
import { createOrigins, type Origins } from "./origins.ts";
import { createPayloadCodec } from "./payload-codec.ts";
import type { SecretStore } from "./secret-store.ts";
import { createSeenStore, type ForgetLater, type People, type SeenStore } from "./seen.ts";
import { createRules, type Rules } from "./settle.ts";
import { createRehearse, createTransact, type Transact } from "./transaction.ts";

const openedAtOnce = 64;

/** What the store must know of the slices: their events, and the row changes that follow from each. */
export type Catalog = {
  events: AnyEvents[];
  reduce: (event: Recorded) => RowChange[];
  claimErrors: ReadonlyMap<string, () => Error>;
};

/** An event that is in the log. */
export type LoggedEvent = Recorded & {
  sequence: bigint;
  /** Who was there; absent in events of the service itself, and of before it was kept. */
  originId?: string;
};

/** The state of one object, and the last thing that happened to it. */
export type Loaded<S> = {
  id: string;
  state: S;
  version: bigint;
  last: { sequence: bigint; createdAt: Date; owner: OwnerRef } | undefined;
};

export type EventFilter = {
  instanceId: string;
  after?: bigint;
  limit?: number;
  types?: string[];
  aggregate?: { type: string; id: string };
};

export interface EventStore {
  /** Events in the order of the log. */
  read(filter: EventFilter): Promise<LoggedEvent[]>;
  load<S, E extends NewEvent>(
    aggregate: Aggregate<S, E>,
    instanceId: string,
    id: string,
  ): Promise<Loaded<S>>;
  /** The state of each of these objects, also of those that nothing ever happened to; by one read. */
  loadAll<S, E extends NewEvent>(
    aggregate: Aggregate<S, E>,
    instanceId: string,
    ids: readonly string[],
  ): Promise<Loaded<S>[]>;
  /** The event of a row of the log, with its personal fields opened; they are empty where the key is gone. */
  open(row: Row<typeof events>): Promise<LoggedEvent>;
  /** Decides and appends as one unit; see `transaction.ts`. */
  transact: Transact;
  /** Takes a decision and writes nothing: what would become of it. */
  rehearse: Transact;
  /** What every unit from now on holds to, and what it brings with it. */
  rules: Pick<Rules, "addReaction" | "addInvariant">;
  /** Has reactions make room for a unit that will record an event of this type on the object. */
  prepare: Rules["prepare"];
  /** The row changes that follow from a logged event: what rebuilds a projection. */
  reduce(event: LoggedEvent): RowChange[];
  readonly eventTypes: readonly string[];
  /** Who was there when events were written. */
  readonly origins: Pick<Origins, "read">;
  /** Address and browser at rest, for records beside the log. */
  readonly seen: SeenStore;
}

/** The public names of all events, sorted. */
export const typesOf = (all: AnyEvents[]): string[] =>
  all.flatMap((set) => [...set[definition].rules.keys()]).sort();

export function createEventStore(parts: {
  db: Database;
  secrets: SecretStore;
  catalog: Catalog;
  now: () => Date;
  onAppended?: (types: string[]) => void;
  /** Users: for those who are gone no address is kept. */
  people?: People;
  forgetLater?: ForgetLater;
}): EventStore {
  const { db, secrets, catalog } = parts;
  const codec = createPayloadCodec(catalog.events, secrets);
  const t = db.table(events);
  const snapshots = createSnapshotCache();
  const seen = createSeenStore(parts);
  const origins = createOrigins(db, seen);
  const rules = createRules(typesOf(catalog.events));

  const toEvent = async (row: Row<typeof events>): Promise<LoggedEvent> => ({
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
    .where(
      and(
        eq(t.instanceId, sql.placeholder("instanceId")),
        gt(t.sequence, sql.placeholder("after")),
      ),
    )
    .orderBy(asc(t.sequence))
    .limit(sql.placeholder("limit"))
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

  async function openAll(rows: Row<typeof events>[]): Promise<LoggedEvent[]> {
    const opened: LoggedEvent[] = [];
    // Each may ask for the key of a person, and whoever waits too long for a connection is refused.
    for (let at = 0; at < rows.length; at += openedAtOnce) {
      opened.push(...(await Promise.all(rows.slice(at, at + openedAtOnce).map(toEvent))));
    }
    return opened;
  }

  const stream = db.read
    .select()
    .from(t)
    .where(
      and(
        eq(t.instanceId, sql.placeholder("instanceId")),
        eq(t.aggregateType, sql.placeholder("type")),
        eq(t.aggregateId, sql.placeholder("id")),
        gt(t.aggregateVersion, sql.placeholder("after")), // drizzle's word for a parameter
      ),
    )
    .orderBy(asc(t.aggregateVersion))
    .prepare("load_stream");

  async function load<S, E extends NewEvent>(
    aggregate: Aggregate<S, E>,
    instanceId: string,
    id: string,
  ): Promise<Loaded<S>> {
    const key = `${instanceId} ${aggregate.type} ${id}`;
    // Taken before the keys are read: one that is destroyed meanwhile makes the fold stale, never wrong.
    const currentKeys = secrets.personalKeysVersion(instanceId);
    const known = snapshots.find(key, currentKeys);
    // Taken before the events are read: one that comes meanwhile makes the fold stale, never wrong.
    const streamVersion = db.streamVersion(id);
    if (known?.streamVersion === streamVersion) return loadedOf(id, known);
    // One aggregate type has one state type.
    let state = known === undefined ? aggregate.initial : (known.state as S);
    let last = known?.last;
    let keysVersion = known?.keysVersion;
    const after = last?.aggregateVersion ?? 0n;
    for (const row of await stream.execute({ instanceId, type: aggregate.type, id, after })) {
      last = await toEvent(row);
      if (codec.isPersonal(row.type)) keysVersion = currentKeys;
      // The stream holds only events of its aggregate; evolve is total over them (aggregate.ts).
      state = aggregate.evolve(state, last as unknown as E);
    }
    if (last === undefined) return { id, state, version: 0n, last };
    const fold = { state, last, keysVersion, streamVersion };
    snapshots.store(key, fold);
    return loadedOf(id, fold);
  }

  /** What is loaded is the caller's to bring further; the fold stays. */
  const loadedOf = <S>(id: string, { state, last }: Fold): Loaded<S> => ({
    id,
    // One aggregate type has one state type.
    state: state as S,
    version: last.aggregateVersion,
    last,
  });

  async function loadAll<S, E extends NewEvent>(
    aggregate: Aggregate<S, E>,
    instanceId: string,
    ids: readonly string[],
  ): Promise<Loaded<S>[]> {
    const ofType = and(eq(t.instanceId, instanceId), eq(t.aggregateType, aggregate.type));
    const rows = await db.read
      .select()
      .from(t)
      .where(and(ofType, inArray(t.aggregateId, [...ids])));
    const streams = new Map<string, LoggedEvent[]>(ids.map((id) => [id, []]));
    for (const event of await openAll(rows)) streams.get(event.aggregateId)?.push(event);
    return [...streams].map(([id, own]) => {
      own.sort((a, b) => Number(a.aggregateVersion - b.aggregateVersion));
      const last = own.at(-1);
      const state = own.reduce(
        (before, event) => aggregate.evolve(before, event as unknown as E),
        aggregate.initial,
      );
      return { id, state, version: last?.aggregateVersion ?? 0n, last };
    });
  }

  return {
    read,
    load,
    loadAll,
    open: toEvent,
    transact: createTransact({ ...parts, codec, load, loadAll, rules, origins }),
    rehearse: createRehearse({ ...parts, codec, load, loadAll, rules, origins }),
    rules,
    prepare: rules.prepare,
    reduce: catalog.reduce,
    eventTypes: typesOf(catalog.events),
    origins,
    seen,
  };
}

function ownerType(value: string): OwnerRef["type"] {
  if (value === "system" || value === "instance" || value === "org") return value;
  throw new Error(`an event is owned by ${value}, which is no kind of owner`);
}
