import { setTimeout as delay } from "node:timers/promises";
import { aborted, callerGone } from "../errors.ts";
import { ClaimTaken, Conflict, type Database } from "../storage/database.ts";
import type { RowChange } from "../storage/row-change.ts";
import type { Row, Table } from "../storage/table.ts";
import type { Aggregate } from "./aggregate.ts";
import type { Recognised } from "./assemble.ts";
import type { NewEvent, OwnerRef } from "./event.ts";
import type { Catalog, EventStore, Loaded } from "./eventstore.ts";
import { createKeyedMutex } from "./keyed-mutex.ts";
import type { Origins } from "./origins.ts";
import type { PayloadCodec } from "./payload-codec.ts";
import type { Presence } from "./presence.ts";
import type { Rules } from "./settle.ts";
import { refusalOf, Unit } from "./unit.ts";

export { decideOn, execute } from "./execute.ts";

const attempts = 6;
const longestWaitMs = 5_000;

/** On whose behalf a unit is written; every event carries it (C9). */
export type WriteContext = {
  instanceId: string;
  editorId: string;
  service: string;
  clientId: string;
  requestId: string;
  /** Whose request it is (`authz/source.ts`); the service's own work has none. */
  source?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Who is there, for the events; the service's own work is done by nobody. */
  presence?: Presence | undefined;
  /** The id of the browser in which the login shows its pages, which has proven itself by its cookie. */
  browser?: string | undefined;
  /** What the request costs its source was counted already. */
  isCounted?: boolean | undefined;
  /** Runs first in every unit, and refuses by throwing: what it loads must still be so when the unit commits. */
  guard?: ((tx: Transaction) => Promise<void>) | undefined;
  /**
   * The sequence that the object must be at whose details the call answers. Each unit judges it once, by `written` or before by
   * `requireSequence`; one that does not cannot commit.
   */
  expectedSequence?: bigint | undefined;
};

/** By whom something is done later that follows from a unit: what follows is their doing too. */
export type Initiator = Pick<WriteContext, "editorId" | "service" | "clientId" | "requestId">;

export const initiator = ({ editorId, service, clientId, requestId }: Initiator): Initiator => ({
  editorId,
  service,
  clientId,
  requestId,
});

/** For what the service does by itself, where nothing else is said. */
export const ownWork = (
  of: Pick<WriteContext, "instanceId"> & Partial<WriteContext>,
): WriteContext => ({
  editorId: "",
  service: "",
  clientId: "",
  requestId: "",
  ...of,
});

/** What a write tells its caller about an object: its last event, old or new. */
export type Written = { id: string; sequence: bigint; changeDate: Date; owner: OwnerRef };

/** One decision over any number of objects. Everything it loads must still be so when it commits. */
export interface Transaction {
  readonly now: Date;
  /** On whose behalf it decides. */
  readonly at: WriteContext;
  /** The state of an object; the same one however often it is asked for, with what was recorded meanwhile. */
  load<S, E extends NewEvent>(aggregate: Aggregate<S, E>, id: string): Promise<Loaded<S>>;
  /** Reads many objects at once, so that `load` of each finds it here. */
  loadAll<S, E extends NewEvent>(aggregate: Aggregate<S, E>, ids: readonly string[]): Promise<void>;
  /**
   * Which of these ids an object of one of these types has or had; the others must still be free when the unit commits, or it
   * is decided again.
   */
  usedIds(types: readonly string[], ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** An object that does not exist yet, under a new id; nothing is read. */
  begin<S, E extends NewEvent>(aggregate: Aggregate<S, E>, id: string): Loaded<S>;
  /**
   * Adds events to an object and brings its state up to them, so that one decision can follow another. The owner is
   * that of the object's first event.
   */
  record<S, E extends NewEvent>(
    aggregate: Aggregate<S, E>,
    loaded: Loaded<S>,
    happened: E[],
    owner?: OwnerRef,
  ): void;
  /**
   * States which rows the decision took as "all rows where", by what a column of text holds in each; others at commit
   * mean: decide again. As many others are others too.
   */
  expectAll<T extends Table>(
    table: T,
    where: Partial<Row<T>>,
    column: string,
    values: readonly string[],
  ): void;
  /** States that no row has one of these values in a column of text; one that has at commit means: decide again. */
  expectNone<T extends Table>(
    table: T,
    where: Partial<Row<T>>,
    column: string,
    values: readonly string[],
  ): void;
  /** States how many rows the decision took as "all rows where"; another number at commit means: decide again. */
  expectRows<T extends Table>(table: T, where: Partial<Row<T>>, count: number): void;
  /** Rows that are no projection: secrets and short-lived state. */
  write(...changes: RowChange[]): void;
  /** The same, of rows that are known only when all else of the unit is put together: asked for right before the commit. */
  writeLast(changes: () => Promise<RowChange[]>): void;
  /**
   * Says who a browser of the hosted login turned out to be, for what the events tell of who was there. Of others it is
   * known before.
   */
  recognise(who: Recognised): void;
  /**
   * Judges what the call expects (`WriteContext.expectedSequence`) by the sequence that reading the object tells, where that is not
   * its own last event; 0 where nothing has happened to it.
   * @throws ABORTED SEQUENCE_MISMATCH
   */
  requireSequence(present: bigint): void;
  /**
   * What becomes of an object: known once the unit is committed. The first one of a unit is the object of the call.
   * @throws ABORTED SEQUENCE_MISMATCH
   */
  written(loaded: Loaded<unknown>): () => Written;
}

/**
 * Runs a decision and appends what it recorded as one unit. When the store has moved on meanwhile the decision is
 * taken anew, a few times.
 *
 * @throws ABORTED CONCURRENT_CHANGE when other writers keep winning
 */
export type Transact = <T>(at: WriteContext, decide: (tx: Transaction) => Promise<T>) => Promise<T>;

export type Parts = {
  db: Database;
  catalog: Catalog;
  codec: PayloadCodec;
  origins: Origins;
  now: () => Date;
  load: EventStore["load"];
  loadAll: EventStore["loadAll"];
  rules: Pick<Rules, "settle" | "judge">;
  onAppended?: (types: string[]) => void;
  projecting?: Projecting;
};

/** Runs what makes events and rows of a decision, and gives what that gives. */
export type Projecting = <T>(run: () => Promise<T>) => Promise<T>;

/** Takes a decision as `Transact` does, and lets it be: nothing is written, and nobody else is held up. */
export const createRehearse =
  (parts: Parts): Transact =>
  async (at, decide) => {
    const unit = new Unit(parts, at);
    if (at.guard !== undefined) await at.guard(unit);
    const result = await decide(unit);
    await unit.settle();
    return result;
  };

/**
 * Decides anew when others have won, six times in all. Losers take turns by a keyed mutex on what they lost: decided again together, all
 * but one would lose again.
 */
export function createTransact(parts: Parts): Transact {
  const lock = createKeyedMutex({ longestWaitMs });
  return async (at, decide) => {
    let release: (() => void) | undefined;
    try {
      for (let attempt = 1; ; attempt++) {
        const unit = new Unit(parts, at);
        if (at.guard !== undefined) await at.guard(unit);
        const result = await decide(unit);
        await unit.settle();
        if (at.signal?.aborted) throw callerGone();
        try {
          await unit.commit();
          return result;
        } catch (error) {
          if (error instanceof ClaimTaken) throw refusalOf(parts, error);
          if (!(error instanceof Conflict)) throw error;
          if (attempt === attempts) {
            throw aborted("CONCURRENT_CHANGE", "the object is being changed by others: try again", {
              cause: error,
            });
          }
          if (release === undefined) release = await lock(`${at.instanceId} ${error.message}`);
          // Who wins all the same is of another process, or came just now.
          else await delay(Math.random() * 2 ** attempt);
        }
      }
    } finally {
      release?.();
    }
  };
}
