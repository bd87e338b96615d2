import { setTimeout as delay } from "node:timers/promises";
import { aborted, callerGone } from "../errors.ts";
import {
  ClaimTaken,
  type ClaimChange,
  Conflict,
  type Database,
  type Expectation,
} from "../storage/database.ts";
import { joined, type RowChange } from "../storage/row-change.ts";
import type { Row, Table } from "../storage/table.ts";
import type { Aggregate } from "./aggregate.ts";
import { assemble, type Recognised, type Recording } from "./assemble.ts";
import type { NewEvent, OwnerRef } from "./event.ts";
import type { Catalog, EventStore, Loaded } from "./eventstore.ts";
import { requireSequence } from "./expected-sequence.ts";
import { createAttempts } from "./attempts.ts";
import { createKeyedMutex } from "./keyed-mutex.ts";
import type { Origins } from "./origins.ts";
import type { PayloadCodec } from "./payload-codec.ts";
import type { Presence } from "./presence.ts";
import type { Rules } from "./settle.ts";
import { createUsedIds } from "./used-ids.ts";

export { execute } from "./execute.ts";

const attempts = 6;

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
   * A part of the decision that may be refused alone: when it throws, what it recorded and wrote is void, and the unit
   * goes on without it. Uniqueness is judged at once, against the store and against what the unit took before.
   *
   * @param judge sees what the part claims, and may throw to refuse it
   * @param isHasty the store is not asked about claims: `requireClaims` or the commit judges those of all parts, as a whole
   * @throws what the part throws, and the refusal of a claim that is taken
   */
  attempt<T>(
    part: () => Promise<T>,
    judge?: (claims: readonly ClaimChange[]) => Promise<void>,
    isHasty?: boolean,
  ): Promise<T>;
  /** Judges what hasty parts claim against the store, by one read. @throws the refusal of a claim that is taken */
  requireClaims(): Promise<void>;
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
  /** States how many rows the decision took as "all rows where"; another number at commit means: decide again. */
  expectRows<T extends Table>(table: T, where: Partial<Row<T>>, count: number): void;
  /** Rows that are no projection: secrets and short-lived state. */
  write(...changes: RowChange[]): void;
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
  rules: Pick<Rules, "settle">;
  onAppended?: (types: string[]) => void;
};

/** Takes a decision as `Transact` does, and lets it be: nothing is written, and nobody else is held up. */
export const createRehearse =
  (parts: Parts): Transact =>
  async (at, decide) => {
    const unit = createTransaction(parts, at);
    await at.guard?.(unit.transaction);
    const result = await decide(unit.transaction);
    await unit.settle();
    return result;
  };

/**
 * Decides anew when others have won, six times in all. Losers take turns by a keyed mutex on what they lost: decided again together, all
 * but one would lose again.
 */
export function createTransact(parts: Parts): Transact {
  const lock = createKeyedMutex();
  return async (at, decide) => {
    let release: (() => void) | undefined;
    try {
      for (let attempt = 1; ; attempt++) {
        const unit = createTransaction(parts, at);
        if (at.guard !== undefined) await at.guard(unit.transaction);
        const result = await decide(unit.transaction);
        const settling = unit.settle();
        if (settling instanceof Promise) await settling;
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

const refusalOf = ({ catalog }: Parts, error: ClaimTaken): Error =>
  catalog.claimErrors.get(error.kind)?.() ?? error;

type Loads = Map<string, { aggregateType: string; loaded: Loaded<unknown> }>;

/** What was only read stays as it is; a stream that is written is guarded by the uniqueness of its versions. */
function expectUnchanged(
  expect: Expectation[],
  loads: Loads,
  recordings: ReadonlyMap<string, unknown>,
): void {
  for (const [key, { aggregateType, loaded }] of loads) {
    if (recordings.has(key)) continue;
    const { id: aggregateId, version } = loaded;
    expect.push({ kind: "stream", aggregateType, aggregateId, version });
  }
}

/** The last event of an object that the unit leaves as it is. */
function before({ id, last }: Loaded<unknown>): Written {
  if (last === undefined) throw new Error(`nothing ever happened to ${id}`);
  const { sequence, createdAt: changeDate, owner } = last;
  return { id, sequence, changeDate, owner };
}

function createTransaction(parts: Parts, at: WriteContext) {
  const createdAt = parts.now();
  const loads: Loads = new Map();
  const recordings = new Map<string, Recording>();
  const expect: Expectation[] = [];
  const changes: RowChange[] = [];
  const last = new Map<Loaded<unknown>, { index: number; owner: OwnerRef }>();
  // Most units have no parts that may be refused alone, and choose no ids.
  let refusable: ReturnType<typeof createAttempts> | undefined;
  let usedIds: ReturnType<typeof createUsedIds> | undefined;
  let firstSequence = 0n;
  let recognised: Recognised | undefined;
  let isJudged = at.expectedSequence === undefined;

  function remember<S, E extends NewEvent>(aggregate: Aggregate<S, E>, loaded: Loaded<S>) {
    loads.set(`${aggregate.type}/${loaded.id}`, { aggregateType: aggregate.type, loaded });
    return loaded;
  }

  const transaction: Transaction = {
    now: createdAt,
    at,
    async load<S, E extends NewEvent>(aggregate: Aggregate<S, E>, id: string) {
      const known = loads.get(`${aggregate.type}/${id}`);
      // One aggregate type has one state type: what was loaded or begun under it before is of the type asked for.
      if (known !== undefined) return known.loaded as Loaded<S>;
      return remember(aggregate, await parts.load(aggregate, at.instanceId, id));
    },
    async loadAll(aggregate, ids) {
      const missing = new Set(ids.filter((id) => !loads.has(`${aggregate.type}/${id}`)));
      if (missing.size === 0) return;
      for (const loaded of await parts.loadAll(aggregate, at.instanceId, [...missing])) {
        remember(aggregate, loaded);
      }
    },
    usedIds(types, ids) {
      usedIds ??= createUsedIds(parts.db, at.instanceId);
      return usedIds.among(types, ids, recordings);
    },
    begin: (aggregate, id) =>
      remember(aggregate, { id, state: aggregate.initial, version: 0n, last: undefined }),
    record(aggregate, loaded, happened, owner) {
      if (happened.length === 0) return;
      const key = `${aggregate.type}/${loaded.id}`;
      const recording = recordings.get(key);
      const { state } = loaded;
      refusable?.note(aggregate.type, loaded.id, happened, () => {
        loaded.state = state;
        if (recording === undefined) recordings.delete(key);
        else recording.events.length -= happened.length;
      });
      loaded.state = happened.reduce(aggregate.evolve, loaded.state);
      const owned = loaded.last?.owner ?? recording?.owner ?? owner;
      if (owned === undefined)
        throw new Error(`the first event of a ${aggregate.type} needs an owner`);
      if (recording !== undefined) recording.events.push(...happened);
      else {
        recordings.set(key, {
          loaded,
          aggregateType: aggregate.type,
          owner: owned,
          events: [...happened],
        });
      }
    },
    async attempt(part, judge, isHasty) {
      const [expected, written] = [expect.length, changes.length];
      try {
        refusable ??= createAttempts(parts, at.instanceId);
        return await refusable.make(part, judge, isHasty);
      } catch (error) {
        expect.length = expected;
        changes.length = written;
        throw error instanceof ClaimTaken ? refusalOf(parts, error) : error;
      }
    },
    async requireClaims() {
      try {
        await refusable?.requireAllFree();
      } catch (error) {
        throw error instanceof ClaimTaken ? refusalOf(parts, error) : error;
      }
    },
    expectAll(table, where, column, values) {
      const all = { kind: "rows", table, where, count: values.length } as const;
      expect.push(all);
      if (values.length > 0) expect.push({ ...all, where: { ...where, [column]: values } });
    },
    expectRows(table, where, count) {
      expect.push({ kind: "rows", table, where, count });
    },
    write(...more) {
      changes.push(...more);
    },
    recognise(who) {
      recognised = { ...recognised, ...who };
    },
    requireSequence(present) {
      if (isJudged) return;
      requireSequence(at, present);
      isJudged = true;
    },
    written(loaded) {
      transaction.requireSequence(loaded.last?.sequence ?? 0n);
      return () => {
        const recorded = last.get(loaded);
        const { id } = loaded;
        if (recorded !== undefined) {
          const sequence = firstSequence + BigInt(recorded.index);
          return { id, sequence, changeDate: createdAt, owner: recorded.owner };
        }
        return before(loaded);
      };
    },
  };

  const settle = () => parts.rules.settle(transaction, at, recordings);

  async function commit(): Promise<void> {
    if (!isJudged) throw new Error("the unit does not judge the sequence that the call expects");
    if (recordings.size === 0 && changes.length === 0) return;
    expectUnchanged(expect, loads, recordings);
    const isKept = (key: string) => recordings.has(key) || loads.has(key);
    if (usedIds !== undefined) expect.push(...usedIds.expected(isKept));
    const { stored, claims, rows, origin } = await assemble(parts, {
      ...{ at, createdAt, transaction, recognised },
      recordings: recordings.values(),
      onLast: (loaded, index, owner) => last.set(loaded, { index, owner }),
    });
    // Claims that are let go come first, so that a value can pass from one object to another in one unit.
    claims.sort((a, b) => Number(a.op !== "release") - Number(b.op !== "release"));
    const unit = {
      instanceId: at.instanceId,
      expect,
      claims,
      events: stored,
      changes: joined([...rows, ...changes]),
    };
    ({ firstSequence } = await parts.db.commit(unit));
    origin?.keep();
    parts.onAppended?.(stored.map(({ type }) => type));
  }

  return { transaction, settle, commit };
}
