import { alreadyExists, type DomainError, failedPrecondition, notFound } from "../../errors.ts";
import {
  type Aggregate,
  aggregate,
  changedFields,
  isEmpty,
  type Patch,
} from "../../eventstore/aggregate.ts";
import {
  type AnyEvents,
  defineEvents,
  type EventDefinitions,
  type EventOf,
  hold,
  type NewEvent,
  payload,
  type Payload,
  type Recorded,
  release,
} from "../../eventstore/event.ts";
import type { DeclaredResource } from "../../projection/module.ts";
import { begin, on, type Projection, projection, touch } from "../../projection/projection.ts";
import { caseFold } from "../../storage/case-fold.ts";
import { deleteRows, insertRow, updateRows } from "../../storage/row-change.ts";
import { instant, int64, table, type Table, type TableOptions, text } from "../../storage/table.ts";
import type { RowState } from "./filters.ts";
import type {
  AbsentKeys,
  ConfigOf,
  Fields,
  FixedKeys,
  FoldedNames,
  NamedColumns,
} from "./fields.ts";

type Nothing = Record<string, never>;
type State<F extends Fields, S> = ConfigOf<F> & (S extends true ? { state: RowState } : unknown);
type Changes<F extends Fields> = Partial<Omit<ConfigOf<F>, FixedKeys<F>>>;
// What an event does not say is what it is without it.
type Added<F extends Fields> = Omit<ConfigOf<F>, AbsentKeys<F>> &
  Partial<Pick<ConfigOf<F>, AbsentKeys<F>>>;
type Standing<S> = S extends true
  ? { deactivated: Payload<Nothing>; reactivated: Payload<Nothing> }
  : unknown;
type Payloads<F extends Fields, R extends keyof F, S, N> = {
  added: Payload<Added<F>>;
  changed: Payload<Changes<F> & N>;
  removed: Payload<Pick<ConfigOf<F>, R & keyof ConfigOf<F>>>;
} & Standing<S>;

type OwnColumns<O> = {
  instanceId: ReturnType<typeof text>;
  id: ReturnType<typeof text>;
  sequence: ReturnType<typeof int64>;
  creationDate: ReturnType<typeof instant>;
  changeDate: ReturnType<typeof instant>;
} & (O extends "org" ? { organizationId: ReturnType<typeof text> } : unknown);
type Columns<F extends Fields, O, S> = OwnColumns<O> &
  NamedColumns<F> & { [K in FoldedNames<F>]: ReturnType<typeof text> } & (S extends true
    ? { state: ReturnType<typeof text> }
    : unknown);
type TableOf<F extends Fields, O, S> = ReturnType<typeof table<Columns<F, O, S>>>;

export type Declared<
  F extends Fields,
  A extends string,
  O extends "org" | "instance",
  R extends keyof F & string,
  S extends boolean,
  N,
> = {
  /** In snake_case, as reasons and messages spell it: `project`. */
  name: string;
  /** What the public names of its events begin with. */
  events: A;
  /** The type of its aggregate, where the events have another prefix. */
  aggregateType?: string;
  table: string;
  owner: O;
  fields: F;
  /** Whether it can be inactive. */
  states: S;
  /** What the event of the removal keeps, so that it can be read in a history. */
  kept: readonly R[];
  /** What no two of an instance have alike: a claim of this kind, of a value of these fields that is folded already. */
  unique?: {
    claim: string;
    fields: readonly (keyof F & string)[];
    of: (config: ConfigOf<F>) => string;
    /** The refusal of a value that another one has. */
    taken: { reason: string; text: string };
  };
  /** What the event of a change tells beside the fields. */
  notes?: Payload<N>;
  indexes: NonNullable<TableOptions<Columns<F, O, S>>["indexes"]>;
};

/**
 * Declares a resource of which each field is a value of its own: its events, the fold of them, its table with the columns that
 * every resource has and a fold beside each text that is searched, and the decisions that need nothing but its state. They are pure, and
 * a slice puts its own around them.
 */
export function defineResource<
  const F extends Fields,
  A extends string,
  O extends "org" | "instance",
  R extends keyof F & string,
  S extends boolean,
  N = unknown,
>(declared: Declared<F, A, O, R, S, N>) {
  type Config = ConfigOf<F>;
  type Present = State<F, S>;
  type Definitions = EventDefinitions<A, Payloads<F, R, S, N>>;
  type Event = EventOf<AnyEvents<NewEvent<`${A}.${string}`>> & Definitions>;
  const { name, fields, owner, states, kept, unique } = declared;
  const keys = Object.keys(fields) as (keyof F & string)[];
  const events = eventsOf(declared) as unknown as Definitions;
  const made = events as unknown as Record<string, (value: object) => Event>;
  const make = (event: string, value: object): Event[] => {
    const maker = made[event];
    if (maker === undefined) throw new Error(`${name} has no event ${event}`);
    return [maker(value)];
  };

  /** The fields among what is given, and nothing else of it. */
  const pick = (given: object): Partial<Config> => {
    const picked: Record<string, unknown> = {};
    for (const key of keys) {
      const value: unknown = Reflect.get(given, key);
      if (value !== undefined) picked[key] = value;
    }
    return picked as Partial<Config>;
  };
  const absent = Object.fromEntries(
    keys.flatMap((key) => (fields[key]?.absent === undefined ? [] : [[key, fields[key].absent]])),
  );
  const stateOf = (state: RowState) => (states ? { state } : {});

  // One function for all resources: the state has the type that the declaration gives it.
  const evolve = (state: Present | undefined, event: NewEvent): Present | undefined => {
    const happened = event.type.slice(declared.events.length + 1);
    const given = event.payload as object;
    if (happened === "added") return { ...absent, ...pick(given), ...stateOf("active") } as Present;
    if (state === undefined || happened === "removed") return undefined;
    if (happened === "changed") return { ...state, ...pick(given) };
    return { ...state, ...stateOf(happened === "reactivated" ? "active" : "inactive") };
  };

  const words = name.replaceAll("_", " ");
  const reason = name.toUpperCase();
  const missing = (): DomainError => notFound(`${reason}_NOT_FOUND`, `the ${words} does not exist`);
  const stored = tableOf(declared);
  const present = (state: Present | undefined): Present => {
    if (state === undefined) throw missing();
    return state;
  };
  const standing = (state: Present | undefined): string | undefined =>
    Reflect.get(present(state), "state") as string | undefined;

  return {
    name,
    prefix: declared.events,
    owner,
    pick,
    /** The fields of an object from its row. */
    fieldsOf: (row: object): Config =>
      Object.fromEntries(
        keys.map((key) => [key, Reflect.get(row, fields[key]?.as ?? key)]),
      ) as Config,
    missing,
    events,
    // Its columns are those of the type: both follow from the same declaration.
    table: stored as unknown as TableOf<F, O, S>,
    aggregate: aggregate(
      events as AnyEvents<NewEvent>,
      undefined as Present | undefined,
      evolve,
    ) as Aggregate<Present | undefined, Event>,
    projection: projectionOf(declared, events, stored),
    claimErrors: (unique === undefined
      ? {}
      : { [unique.claim]: () => alreadyExists(unique.taken.reason, unique.taken.text) }) as Record<
      string,
      () => DomainError
    >,

    /** A field that is what events without it mean is left out. @throws FAILED_PRECONDITION <NAME>_EXISTS */
    add(state: Present | undefined, config: Config): Event[] {
      if (state !== undefined) {
        throw failedPrecondition(`${reason}_EXISTS`, `a ${words} with this id exists`);
      }
      const values: Record<string, unknown> = {};
      for (const key of keys) {
        const value: unknown = Reflect.get(config, key);
        if (value !== fields[key]?.absent) values[key] = value;
      }
      return make("added", values);
    },
    /** A patch that changes nothing is no event and no error. @throws NOT_FOUND <NAME>_NOT_FOUND */
    patch(state: Present | undefined, patch: Patch<Changes<F>>, notes: Partial<N> = {}): Event[] {
      const changes = changedFields<object>(present(state), patch);
      return isEmpty(changes) && isEmpty(notes) ? [] : make("changed", { ...changes, ...notes });
    },
    /** @throws NOT_FOUND <NAME>_NOT_FOUND; FAILED_PRECONDITION <NAME>_INACTIVE */
    deactivate(state: Present | undefined): Event[] {
      if (standing(state) !== "inactive") return make("deactivated", {});
      throw failedPrecondition(`${reason}_INACTIVE`, `the ${words} is inactive already`);
    },
    /** @throws NOT_FOUND <NAME>_NOT_FOUND; FAILED_PRECONDITION <NAME>_ACTIVE */
    activate(state: Present | undefined): Event[] {
      if (standing(state) !== "active") return make("reactivated", {});
      throw failedPrecondition(`${reason}_ACTIVE`, `the ${words} is active already`);
    },
    /** @throws NOT_FOUND <NAME>_NOT_FOUND */
    remove(state: Present | undefined): Event[] {
      const now = present(state);
      return make("removed", Object.fromEntries(kept.map((key) => [key, Reflect.get(now, key)])));
    },
  };
}

/** What an object of a resource is, by its fields. */
export type ResourceConfig<R extends { fieldsOf(row: object): unknown }> = ReturnType<
  R["fieldsOf"]
>;

/** A resource of whatever fields, for those who only hand on what they get of it. */
export type AnyResource = DeclaredResource & {
  // oxlint-disable-next-line no-explicit-any -- the types of its events are its own.
  events: AnyEvents<any>;
  projection: Projection;
  claimErrors: Record<string, () => DomainError>;
  pick(given: object): object;
  fieldsOf(row: object): object;
  add(state: unknown, config: object): NewEvent[];
  patch(state: unknown, patch: object): NewEvent[];
  deactivate(state: unknown): NewEvent[];
  activate(state: unknown): NewEvent[];
  remove(state: unknown): NewEvent[];
};

/** A declaration of whatever fields. */
type AnyDeclared = {
  events: string;
  aggregateType?: string;
  table: string;
  owner: "org" | "instance";
  states: boolean;
  fields: Fields;
  unique?: { claim: string; fields: readonly string[]; of: (config: never) => string };
  indexes: unknown;
};

function eventsOf({ events, aggregateType = events, states, unique }: AnyDeclared) {
  const held = (config: object) =>
    unique?.fields.every((field) => Reflect.get(config, field) !== undefined)
      ? [hold(unique.claim, unique.of(config as never))]
      : [];
  return defineEvents(
    events,
    {
      added: payload<object>({ claims: held }),
      changed: payload<object>({ claims: held }),
      ...(states ? { deactivated: payload<object>(), reactivated: payload<object>() } : {}),
      removed: payload<object>({
        claims: () => (unique === undefined ? [] : [release(unique.claim)]),
      }),
    },
    aggregateType,
  );
}

function tableOf(declared: AnyDeclared): Table {
  const { fields, owner, states } = declared;
  const own = Object.entries(fields).flatMap(([key, { as = key, column, folded }]) =>
    folded ? [[as, column] as const, [`${as}Folded`, text()] as const] : [[as, column] as const],
  );
  const columns = {
    instanceId: text(),
    id: text(),
    ...(owner === "org" ? { organizationId: text() } : {}),
    ...Object.fromEntries(own),
    ...(states ? { state: text() } : {}),
    sequence: int64(),
    creationDate: instant(),
    changeDate: instant(),
  };
  return table(declared.table, columns, {
    key: ["instanceId", "id"],
    indexes: declared.indexes as { columns: (keyof typeof columns)[] }[],
    countedBy: "instanceId",
  });
}

function projectionOf(
  { events: prefix, table: name, owner, fields, states }: AnyDeclared,
  events: AnyEvents<NewEvent>,
  stored: Table,
): Projection {
  const columns = Object.entries(fields).map(([key, { as = key, folded, absent }]) => ({
    ...{ key, as, absent },
    fold: folded === true ? `${as}Folded` : undefined,
  }));
  /** Adds to a row what is given; what is not is what it is without, or stays. */
  const fill = (row: Record<string, unknown>, given: object, isNew: boolean) => {
    for (const { key, as, fold, absent } of columns) {
      let value: unknown = Reflect.get(given, key);
      if (value === undefined && isNew) value = absent;
      if (value === undefined) continue;
      row[as] = value;
      if (fold !== undefined && typeof value === "string") row[fold] = caseFold(value);
    }
    return row;
  };
  const rowOf = ({ instanceId, aggregateId: id }: Recorded) => ({ instanceId, id });
  const update = (event: Recorded, values: object) => [
    updateRows(stored, rowOf(event), { ...values, ...touch(event) }),
  ];
  const become = (state: RowState) => (event: Recorded) => update(event, { state });
  return projection(
    name,
    [stored],
    on(events, {
      [`${prefix}.added`]: (event: Recorded) => {
        const row: Record<string, unknown> = begin(event);
        if (owner === "org") row["organizationId"] = event.owner.id;
        if (states) row["state"] = "active";
        return [insertRow(stored, fill(row, event.payload as object, true))];
      },
      [`${prefix}.changed`]: (event: Recorded) =>
        update(event, fill({}, event.payload as object, false)),
      ...(states
        ? {
            [`${prefix}.deactivated`]: become("inactive"),
            [`${prefix}.reactivated`]: become("active"),
          }
        : {}),
      [`${prefix}.removed`]: (event: Recorded) => [deleteRows(stored, rowOf(event))],
    }),
  );
}
