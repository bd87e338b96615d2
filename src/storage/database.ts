import type { StoreActivity } from "./activity.ts";
import type { Column, SQL } from "drizzle-orm";
import type { PgDatabase, PgQueryResultHKT } from "drizzle-orm/pg-core";
import type { Awaitable } from "../awaitable.ts";
import type { RowChange } from "./row-change.ts";
import type { Dependency } from "./cache-versions.ts";
import type { Selection } from "./selection.ts";
import type { AnyTable, Table } from "./table.ts";

/** An event as it is stored. Its sequence is drawn by the store, last, inside the transaction. */
export type StoredEvent = {
  aggregateType: string;
  aggregateId: string;
  aggregateVersion: bigint;
  type: string;
  revision: number;
  payload: unknown;
  ownerType: string;
  ownerId: string;
  editorId: string;
  service: string;
  clientId: string;
  requestId: string;
  createdAt: Date;
  originId: string | null;
};

/**
 * What must still hold when the unit commits: the versions of streams that the decision only read, and the number of
 * rows that a decision took as "all of them". A list in `where`, of a text column, stands for any of its members.
 */
export type Expectation =
  | { kind: "stream"; aggregateType: string; aggregateId: string; version: bigint }
  | { kind: "rows"; table: AnyTable; where: Record<string, unknown>; count: number };

/**
 * A uniqueness claim: one holder a value, within an instance or (empty scope) within the whole system.
 * `hold` replaces what the holder held of this kind; `add` keeps it; `release` without a value frees all of the kind.
 */
export type ClaimChange = {
  op: "hold" | "add" | "release";
  scope: string;
  kind: string;
  value?: string;
  holderType: string;
  holderId: string;
};

/**
 * One unit of work as data. It commits whole or not at all: expectations hold, claims are free, events get consecutive
 * sequences of the instance, row changes are applied.
 */
export type Unit = {
  instanceId: string;
  expect: Expectation[];
  claims: ClaimChange[];
  events: StoredEvent[];
  changes: RowChange[];
};

/** The sequence of the unit's first event; the others follow without a hole. Zero when the unit had no event. */
export type Committed = { firstSequence: bigint };

/** Somebody else wrote what this unit's decision was based on, which the message names: decide again. */
export class Conflict extends Error {
  override name = "Conflict";
}

/** The value of a claim is held by another object. */
export class ClaimTaken extends Error {
  override name = "ClaimTaken";
  readonly kind: string;
  constructor(kind: string) {
    super(`claim ${kind} is taken`);
    this.kind = kind;
  }
}

/** Queries are drizzle's builder with the types of PostgreSQL, on both databases. */
export type Reader = Pick<PgDatabase<PgQueryResultHKT>, "select" | "selectDistinct"> & {
  /** The rows that a query finds which is written as text; it is sent when it is awaited. */
  rows<R>(query: SQL, selection: Pick<Selection<R>, "rowOf">): PromiseLike<R[]>;
};

type Results<Q extends readonly PromiseLike<unknown>[]> = {
  -readonly [K in keyof Q]: Awaited<Q[K]>;
};

/**
 * `sound`: the engine's own check of its file or cluster finds nothing. `format` is the store's, once it has been
 * migrated (schema.ts). `risks`: what settings of the database put at risk and may be right where it runs.
 */
export type StoreHealth = {
  engine: string;
  version: string;
  format: number;
  sound: boolean;
  risks: readonly string[];
};

export interface Snapshots {
  /** Several queries that see one state of the store, with all that was committed before they began. */
  snapshot<const Q extends readonly PromiseLike<unknown>[]>(
    build: (read: Reader) => Q,
  ): Promise<Results<Q>>;
}

/** The port to the database. Nothing above it knows the dialect. */
export interface Database extends Snapshots, AsyncDisposable {
  /** The drizzle table of this dialect. */
  table<P extends Table["postgres"]>(table: Table<P>): P;
  readonly read: Reader;
  activity(): StoreActivity;
  /**
   * Reads that may take long, such as those that look at each of many rows: they hold up nobody else. Others are quicker by `read`.
   *
   * @param source whose they are, such as an instance: where many wait, sources take turns
   * @throws UNAVAILABLE SEARCHES_BUSY where too many wait
   */
  lengthy(source: string): Snapshots;
  /** Whether the text of a column holds another, compared byte by byte. */
  contains(column: Column, text: string): SQL;
  /** Whether the JSON list of a column has this text as a member. */
  hasMember(column: Column, text: string): SQL;
  /** Whether a column of texts holds one of these: one parameter, so that a statement is the same for any number of them. */
  isAmong(column: Column, texts: readonly string[]): SQL;
  /**
   * To be awaited before the work of a call that commits a unit: while the disk flushes, it waits for half of the flush at most, so that
   * such calls hold up others less. Nothing where it need not wait.
   */
  beforeChange?(): Promise<void> | undefined;
  /**
   * Commits one unit; it is on disk when the promise resolves (C3). Units share a flush; a unit that fails
   * fails alone.
   * @throws {Conflict} when an expectation does not hold, a stream has moved on, or a row to insert is there already.
   * @throws {ClaimTaken} when a claim is held by another object.
   */
  commit(unit: Unit): Promise<Committed>;
  /**
   * Counts the commits that touched any of the tables in this instance: a cached read is valid while it stands still.
   * It moves before a commit of this process is acknowledged, and within a second of another's; while the store cannot
   * tell about others it is NaN, which equals nothing (B7).
   */
  cacheVersion(instanceId: string, dependencies: readonly Dependency[]): number;
  /**
   * Stands still while no event is written to a stream, by whichever process, and may move although none is. NaN, which
   * equals nothing, where that is not known at once: replicas may have written.
   */
  streamVersion(aggregateId: string): number;
  /**
   * Resolves when every commit that was acknowledged before the call, by whichever process, has moved the cache versions. What
   * answers a read of the API from a cache calls it first (C2). A promise only where others are to be asked.
   */
  catchUp(): Awaitable<void>;
  /** Called after each commit that wrote events of the instance. */
  onCommit(listener: (instanceId: string) => void): () => void;
  /** Called after each commit of this process for each row that it inserted into the table, events or not. */
  onInsert(table: Table, listener: (row: Readonly<Record<string, unknown>>) => void): () => void;
  /** The name of this process to the store, unlike that of any other: under it, it holds what only one process may do. */
  readonly processName: string;
  /**
   * Of these processes those that have ended, also by a crash. A name that no store gave is of nobody who is known to have ended.
   * Where only one process serves a store all others have ended; else it is known within some seconds.
   */
  endedOf(names: readonly string[]): Promise<string[]>;
  /** With `thorough`, the engine checks all it holds, which takes time in proportion. */
  health(thorough?: boolean): Promise<StoreHealth>;
}

export type Heads = ReadonlyMap<string, bigint>;

/** Brings copies of projection tables to a state of the log, by changes of replayed events. */
export type Bring = (heads: Heads, apply: (changes: RowChange[]) => Promise<void>) => Promise<void>;

/**
 * Shadow copies of projection tables, filled by a replay while the real ones serve. There is one set at a time: making
 * another takes the place of the one before.
 * @throws ABORTED REBUILD_REPLACED once another has begun
 */
export interface Shadow {
  /** Applies changes of replayed events, whose sequences are numbers, in one transaction. */
  apply(changes: RowChange[]): Promise<void>;
  /** The number of rows that differ a table, both being at one state of the log, to which the copies are brought. */
  compare(bring: Bring): Promise<Map<string, number>>;
  /** Puts the copies in the place of the real tables, once they are brought to the end of the log. */
  swap(bring: Bring): Promise<void>;
  drop(): Promise<void>;
}

/** A database that can be brought to the schema of this build. */
export interface MigratableDatabase extends Database {
  /**
   * Looks for damage before the store is served, where the engine does not do so itself. Of a large store the look goes on
   * beside the service; damage that is found then breaks the store.
   * @throws FAILED_PRECONDITION STORE_DAMAGED
   */
  inspect(): Promise<void>;
  /** Whether no event was ever written; also before the first migration. */
  isNew(): Promise<boolean>;
  /** Creates and widens tables; gives the projection tables that must be rebuilt from events before serving. */
  migrate(): Promise<AnyTable[]>;
  heads(): Promise<Heads>;
  /**
   * Called once when a newer build has changed what this one reads: from then on everything is refused with UNAVAILABLE
   * STORE_NEWER. Only where several processes serve a store.
   */
  onOvertaken(listener: () => void): void;
  /**
   * Writes the store anew, so that no page of its files holds anything of what was deleted. Writers wait meanwhile, on
   * PostgreSQL readers as well, a table at a time.
   */
  rewrite(): Promise<void>;
  shadow(tables: AnyTable[]): Promise<Shadow>;
}
