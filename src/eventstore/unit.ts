import { ClaimTaken, type ClaimChange, type Expectation } from "../storage/database.ts";
import { joined, type RowChange } from "../storage/row-change.ts";
import type { Row, Table } from "../storage/table.ts";
import type { Aggregate } from "./aggregate.ts";
import { assemble, type Recognised, type Recording } from "./assemble.ts";
import { claimChange } from "./claims.ts";
import type { NewEvent, OwnerRef } from "./event.ts";
import type { Loaded } from "./eventstore.ts";
import { requireSequence } from "./expected-sequence.ts";
import type { Parts, Transaction, WriteContext, Written } from "./transaction.ts";
import { createUsedIds } from "./used-ids.ts";

type Loads = Map<string, { aggregateType: string; loaded: Loaded<unknown> }>;

/** What would happen to an object. */
export type Foreseen = {
  aggregateType: string;
  id: string;
  owner: OwnerRef;
  events: NewEvent[];
};

/** What a claim that is taken is refused with. */
export const refusalOf = ({ catalog }: Pick<Parts, "catalog">, error: ClaimTaken): Error =>
  catalog.claimErrors.get(error.kind)?.() ?? error;

/** One attempt at a decision: what it loads, expects and records, until it is committed as a whole. */
export class Unit implements Transaction {
  readonly now: Date;
  readonly at: WriteContext;
  readonly #parts: Parts;
  readonly #loads: Loads = new Map();
  readonly #recordings = new Map<string, Recording>();
  readonly #expect: Expectation[] = [];
  readonly #changes: RowChange[] = [];
  readonly #lastChanges: (() => Promise<RowChange[]>)[] = [];
  // Where in the unit the last event of each object stands.
  readonly #last = new Map<Loaded<unknown>, { index: number; owner: OwnerRef }>();
  // Of a unit over another one: the objects of that one, by those of this one that are as they are there.
  readonly #below: { unit: Unit; originals: Map<Loaded<unknown>, Loaded<unknown>> } | undefined;
  // Most units choose no ids.
  #usedIds: ReturnType<typeof createUsedIds> | undefined;
  #recognised: Recognised | undefined;
  #firstSequence = 0n;
  #isJudged: boolean;

  /** @param below the unit over which this one decides (`above`) */
  constructor(parts: Parts, at: WriteContext, below?: Unit) {
    this.now = below?.now ?? parts.now();
    this.at = at;
    this.#parts = parts;
    this.#below = below && { unit: below, originals: new Map() };
    this.#isJudged = at.expectedSequence === undefined;
  }

  async load<S, E extends NewEvent>(aggregate: Aggregate<S, E>, id: string): Promise<Loaded<S>> {
    const known = this.#loads.get(`${aggregate.type}/${id}`);
    // One aggregate type has one state type: what was loaded or begun under it before is of the type asked for.
    if (known !== undefined) return known.loaded as Loaded<S>;
    if (this.#below === undefined) {
      return this.#remember(aggregate, await this.#parts.load(aggregate, this.at.instanceId, id));
    }
    const original = await this.#below.unit.load(aggregate, id);
    const loaded = this.#remember(aggregate, { ...original });
    this.#below.originals.set(loaded, original);
    return loaded;
  }

  async loadAll<S, E extends NewEvent>(
    aggregate: Aggregate<S, E>,
    ids: readonly string[],
  ): Promise<void> {
    if (this.#below !== undefined) return this.#below.unit.loadAll(aggregate, ids);
    const missing = new Set(ids.filter((id) => !this.#loads.has(`${aggregate.type}/${id}`)));
    if (missing.size === 0) return;
    const { instanceId } = this.at;
    for (const loaded of await this.#parts.loadAll(aggregate, instanceId, [...missing])) {
      this.#remember(aggregate, loaded);
    }
  }

  usedIds(
    types: readonly string[],
    ids: readonly string[],
    isRecorded = (key: string): boolean => this.#recordings.has(key),
  ): Promise<ReadonlySet<string>> {
    if (this.#below !== undefined) {
      const { unit } = this.#below;
      return unit.usedIds(types, ids, (key) => isRecorded(key) || unit.recorded(key) !== undefined);
    }
    this.#usedIds ??= createUsedIds(this.#parts.db, this.at.instanceId);
    return this.#usedIds.among(types, ids, isRecorded);
  }

  begin<S, E extends NewEvent>(aggregate: Aggregate<S, E>, id: string): Loaded<S> {
    const { initial: state } = aggregate;
    return this.#remember(aggregate, { id, state, version: 0n, last: undefined });
  }

  record<S, E extends NewEvent>(
    aggregate: Aggregate<S, E>,
    loaded: Loaded<S>,
    happened: E[],
    owner?: OwnerRef,
  ): void {
    if (happened.length === 0) return;
    const key = `${aggregate.type}/${loaded.id}`;
    const recording = this.#recordings.get(key);
    loaded.state = happened.reduce(aggregate.evolve, loaded.state);
    const first = recording ?? this.#below?.unit.recorded(key);
    const owned = loaded.last?.owner ?? first?.owner ?? owner;
    if (owned === undefined) {
      throw new Error(`the first event of a ${aggregate.type} needs an owner`);
    }
    if (recording !== undefined) recording.events.push(...happened);
    else {
      const aggregateType = aggregate.type;
      this.#recordings.set(key, { loaded, aggregateType, owner: owned, events: [...happened] });
    }
  }

  /** What it records of an object, by type and id. */
  recorded(key: string): Recording | undefined {
    return this.#recordings.get(key);
  }

  /** A unit over this one: it sees what this one has made, and nothing comes of it until it is taken in. */
  above(): Unit {
    return new Unit(this.#parts, this.at, this);
  }

  /** Makes what a unit over this one has decided a part of this one. */
  takeIn(member: Unit): void {
    const originals = member.#below?.originals;
    for (const [key, of] of member.#loads) {
      if (originals?.has(of.loaded) !== true) this.#loads.set(key, of);
    }
    for (const [key, recording] of member.#recordings) {
      const loaded = originals?.get(recording.loaded) ?? recording.loaded;
      loaded.state = recording.loaded.state;
      const mine = this.#recordings.get(key);
      if (mine === undefined) this.#recordings.set(key, { ...recording, loaded });
      else mine.events.push(...recording.events);
    }
    this.#expect.push(...member.#expect);
    this.#changes.push(...member.#changes);
    this.#lastChanges.push(...member.#lastChanges);
    if (member.#recognised !== undefined) this.recognise(member.#recognised);
  }

  /** What the events that it has recorded claim, and let go. */
  claims(): ClaimChange[] {
    const { instanceId } = this.at;
    return [...this.#recordings.values()].flatMap(({ loaded, aggregateType, events }) =>
      events.flatMap(({ type, payload }) =>
        (this.#parts.codec.rules(type).claims?.(payload) ?? []).map((statement) =>
          claimChange(statement, instanceId, aggregateType, loaded.id),
        ),
      ),
    );
  }

  /** What it has recorded, without what tells of persons. */
  foreseen(): Foreseen[] {
    const { codec } = this.#parts;
    return [...this.#recordings.values()].map(({ loaded, aggregateType, owner, events }) => ({
      aggregateType,
      id: loaded.id,
      owner,
      events: events.map((event) => codec.erased(event)),
    }));
  }

  /** Judges what has been recorded so far, by the unit below it too, by the invariants. */
  judge(): Promise<void> {
    const all = new Map(this.#below === undefined ? [] : this.#below.unit.#recordings);
    for (const [key, recording] of this.#recordings) {
      const { events = [] } = all.get(key) ?? {};
      all.set(key, { ...recording, events: [...events, ...recording.events] });
    }
    return this.#parts.rules.judge(this, this.at, all);
  }

  refusalOf(error: ClaimTaken): Error {
    return refusalOf(this.#parts, error);
  }

  expectAll<T extends Table>(
    table: T,
    where: Partial<Row<T>>,
    column: string,
    values: readonly string[],
  ): void {
    const all = { kind: "rows", table, where, count: values.length } as const;
    this.#expect.push(all);
    if (values.length > 0) this.#expect.push({ ...all, where: { ...where, [column]: values } });
  }

  expectNone<T extends Table>(
    table: T,
    where: Partial<Row<T>>,
    column: string,
    values: readonly string[],
  ): void {
    if (values.length === 0) return;
    this.#expect.push({ kind: "rows", table, where: { ...where, [column]: values }, count: 0 });
  }

  expectRows<T extends Table>(table: T, where: Partial<Row<T>>, count: number): void {
    this.#expect.push({ kind: "rows", table, where, count });
  }

  write(...changes: RowChange[]): void {
    this.#changes.push(...changes);
  }

  writeLast(changes: () => Promise<RowChange[]>): void {
    this.#lastChanges.push(changes);
  }

  recognise(who: Recognised): void {
    this.#recognised = { ...this.#recognised, ...who };
  }

  requireSequence(present: bigint): void {
    if (this.#below !== undefined) return this.#below.unit.requireSequence(present);
    if (this.#isJudged) return;
    requireSequence(this.at, present);
    this.#isJudged = true;
  }

  written(loaded: Loaded<unknown>): () => Written {
    if (this.#below !== undefined) {
      const { unit, originals } = this.#below;
      return unit.written(originals.get(loaded) ?? loaded);
    }
    this.requireSequence(loaded.last?.sequence ?? 0n);
    return () => {
      const recorded = this.#last.get(loaded);
      const { id } = loaded;
      if (recorded === undefined) return before(loaded);
      const sequence = this.#firstSequence + BigInt(recorded.index);
      return { id, sequence, changeDate: this.now, owner: recorded.owner };
    };
  }

  /** What follows from the decision, and what must hold after it (settle.ts). */
  settle(): Promise<void> {
    return this.#parts.rules.settle(this, this.at, this.#recordings);
  }

  /** @throws Conflict, ClaimTaken where the store has moved on */
  async commit(): Promise<void> {
    if (!this.#isJudged) {
      throw new Error("the unit does not judge the sequence that the call expects");
    }
    const isEmpty = this.#recordings.size === 0 && this.#changes.length === 0;
    if (isEmpty && this.#lastChanges.length === 0) return;
    this.#expectUnchanged();
    const { stored, claims, rows, origin } = await this.#assemble();
    // Claims that are let go come first, so that a value can pass from one object to another in one unit.
    claims.sort((a, b) => Number(a.op !== "release") - Number(b.op !== "release"));
    for (const changes of this.#lastChanges) this.#changes.push(...(await changes()));
    const { firstSequence } = await this.#parts.db.commit({
      instanceId: this.at.instanceId,
      expect: this.#expect,
      claims,
      events: stored,
      changes: joined([...rows, ...this.#changes]),
    });
    this.#firstSequence = firstSequence;
    origin?.keep();
    this.#parts.onAppended?.(stored.map(({ type }) => type));
  }

  #assemble(): ReturnType<typeof assemble> {
    const parts = this.#parts;
    const run = () =>
      assemble(parts, {
        at: this.at,
        createdAt: this.now,
        transaction: this,
        recognised: this.#recognised,
        recordings: this.#recordings.values(),
        onLast: (loaded, index, owner) => this.#last.set(loaded, { index, owner }),
      });
    return parts.projecting === undefined ? run() : parts.projecting(run);
  }

  #remember<S, E extends NewEvent>(aggregate: Aggregate<S, E>, loaded: Loaded<S>): Loaded<S> {
    this.#loads.set(`${aggregate.type}/${loaded.id}`, { aggregateType: aggregate.type, loaded });
    return loaded;
  }

  /** What was only read stays as it is; a stream that is written is guarded by the uniqueness of its versions. */
  #expectUnchanged(): void {
    for (const [key, { aggregateType, loaded }] of this.#loads) {
      if (this.#recordings.has(key)) continue;
      const { id: aggregateId, version } = loaded;
      this.#expect.push({ kind: "stream", aggregateType, aggregateId, version });
    }
    if (this.#usedIds === undefined) return;
    const isKept = (key: string) => this.#recordings.has(key) || this.#loads.has(key);
    this.#expect.push(...this.#usedIds.expected(isKept));
  }
}

/** The last event of an object that the unit leaves as it is. */
function before({ id, last }: Loaded<unknown>): Written {
  if (last === undefined) throw new Error(`nothing ever happened to ${id}`);
  const { sequence, createdAt: changeDate, owner } = last;
  return { id, sequence, changeDate, owner };
}
