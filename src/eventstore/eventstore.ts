import type { Database } from "../storage/database.ts";
import type { events } from "../storage/kernel-tables.ts";
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
import { createLoader } from "./loader.ts";
import { createLogReader } from "./log-reader.ts";
import { createOrigins, type Origins } from "./origins.ts";
import { createPayloadCodec } from "./payload-codec.ts";
import type { SecretStore } from "./secret-store.ts";
import { createSeenStore, type ForgetLater, type People, type SeenStore } from "./seen.ts";
import { createRules, type Rules } from "./settle.ts";
import { createRehearse, createTransact, type Projecting, type Transact } from "./transaction.ts";

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
  /** Runs what makes events and rows of a decision. */
  projecting?: Projecting;
  /** Users: for those who are gone no address is kept. */
  people?: People;
  forgetLater?: ForgetLater;
}): EventStore {
  const { db, secrets, catalog } = parts;
  const codec = createPayloadCodec(catalog.events, secrets);
  const seen = createSeenStore(parts);
  const origins = createOrigins(db, seen);
  const rules = createRules(typesOf(catalog.events));

  const { read, open, openAll } = createLogReader(db, codec);
  const { load, loadAll } = createLoader({ db, secrets, codec, open, openAll });

  return {
    read,
    load,
    loadAll,
    open,
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
