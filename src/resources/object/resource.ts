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
  release,
} from "../../eventstore/event.ts";
import type { DeclaredResource } from "../../projection/module.ts";
import type { Projection } from "../../projection/projection.ts";
import type {
  AnyDeclared,
  Changes,
  Declared,
  Given,
  Payloads,
  State,
  TableOf,
  UsualVerbs,
  Verbs,
} from "./declared.ts";
import type { ConfigOf, Fields } from "./fields.ts";
import type { RowState } from "./filters.ts";
import { projectionOf, tableOf, usualVerbs } from "./stored.ts";

export { fact } from "./declared.ts";

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
  const M = unknown,
  const V extends Verbs = UsualVerbs,
  B = unknown,
  I = unknown,
>(declared: Declared<F, A, O, R, S, N, M, V, B, I>) {
  type Present = State<F, S, I>;
  type Definitions = EventDefinitions<A, Payloads<F, R, S, N, M, V>>;
  type Event = EventOf<AnyEvents<NewEvent<`${A}.${string}`>> & Definitions>;
  const { name, fields, owner, unique, ownTexts = false } = declared;
  const keys = Object.keys(fields);
  const events = eventsOf(declared) as unknown as Definitions;
  const stored = tableOf(declared);
  const missing = missingOf(name);

  return {
    name,
    prefix: declared.events,
    owner,
    ownTexts,
    pick: pickerOf(declared) as (given: object) => Partial<ConfigOf<F>>,
    /** The fields of an object from its row. */
    fieldsOf: (row: object): ConfigOf<F> =>
      Object.fromEntries(
        keys.map((key) => [key, Reflect.get(row, fields[key]?.as ?? key)]),
      ) as ConfigOf<F>,
    missing,
    /** The kind of the claim that makes it unique; empty without one. */
    claimKind: unique?.claim ?? "",
    events,
    // Its columns are those of the type: both follow from the same declaration.
    table: stored as unknown as TableOf<F, O, S, B>,
    aggregate: aggregate(
      events as AnyEvents<NewEvent>,
      undefined as Present | undefined,
      evolverOf(declared) as (state: Present | undefined, event: NewEvent) => Present | undefined,
    ) as Aggregate<Present | undefined, Event>,
    projection: projectionOf(declared, events, stored),
    claimErrors: (unique === undefined
      ? {}
      : { [unique.claim]: () => alreadyExists(unique.taken.reason, unique.taken.text) }) as Record<
      string,
      () => DomainError
    >,
    // The decisions take and give what the types of the declaration say.
    ...(decisionsOf(declared, events, missing) as Decisions<F, Present, Event, N>),
  };
}

/** Decisions that need nothing but the state. Each that needs an object throws NOT_FOUND <NAME>_NOT_FOUND without one. */
type Decisions<F extends Fields, Present, E, N> = {
  /** A field that is what events without it mean is left out. @throws FAILED_PRECONDITION <NAME>_EXISTS */
  add(state: Present | undefined, config: Given<F>, notes?: Partial<N>): E[];
  /** A patch that changes nothing is no event and no error. */
  patch(state: Present | undefined, patch: Patch<Changes<F>>, notes?: Partial<N>): E[];
  /** @throws FAILED_PRECONDITION <NAME>_INACTIVE */
  deactivate(state: Present | undefined): E[];
  /** @throws FAILED_PRECONDITION <NAME>_ACTIVE */
  activate(state: Present | undefined): E[];
  remove(state: Present | undefined): E[];
  /** The state. */
  require(state: Present | undefined): Present;
};

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

const wordsOf = (name: string) => name.replaceAll("_", " ");

const missingOf = (name: string) => (): DomainError =>
  notFound(`${name.toUpperCase()}_NOT_FOUND`, `the ${wordsOf(name)} does not exist`);

/** The fields among what is given, and nothing else of it. */
function pickerOf({ fields }: AnyDeclared) {
  const keys = Object.keys(fields);
  return (given: object): Record<string, unknown> => {
    const picked: Record<string, unknown> = {};
    for (const key of keys) {
      const value: unknown = Reflect.get(given, key);
      if (value !== undefined) picked[key] = value;
    }
    return picked;
  };
}

function evolverOf(declared: AnyDeclared) {
  const { events, fields, verbs = usualVerbs, states, facts = {}, initially } = declared;
  const pick = pickerOf({ fields } as AnyDeclared);
  const absent = Object.fromEntries(
    Object.entries(fields).flatMap(([key, field]) =>
      field.absent === undefined ? [] : [[key, field.absent]],
    ),
  );
  const become = (state: RowState) => (states ? { state } : {});
  return (state: object | undefined, event: NewEvent): object | undefined => {
    const happened = event.type.slice(events.length + 1);
    const given = event.payload as object;
    if (happened === verbs.added) {
      return { ...(initially as object), ...absent, ...pick(given), ...become("active") };
    }
    if (state === undefined || happened === verbs.removed) return undefined;
    if (happened === verbs.changed) return { ...state, ...pick(given) };
    const effect = facts[happened]?.effect;
    if (effect === undefined) {
      return { ...state, ...become(happened === "reactivated" ? "active" : "inactive") };
    }
    if (effect.ends === true) return undefined;
    const [sets, more] = [
      effect.sets?.(given as never),
      effect.evolve?.(state as never, given as never),
    ];
    return { ...state, ...pick(given), ...sets, ...more };
  };
}

function decisionsOf(
  declared: AnyDeclared & {
    kept: readonly string[];
    repeated?: readonly string[];
    idUsed?: string;
  },
  events: unknown,
  missing: () => DomainError,
): Decisions<Fields, object, NewEvent, object> {
  const { name, fields, kept, repeated = [], verbs = usualVerbs } = declared;
  const [words, reason] = [wordsOf(name), name.toUpperCase()];
  const { idUsed = `${reason}_EXISTS` } = declared;
  const keys = Object.keys(fields);
  const makers = events as Record<string, (value: object) => NewEvent>;
  const make = (event: string | undefined, value: object): NewEvent[] => {
    const maker = makers[event ?? ""];
    if (maker === undefined) throw new Error(`${name} has no event for this`);
    return [maker(value)];
  };
  const require = (state: object | undefined): object => {
    if (state === undefined) throw missing();
    return state;
  };
  const among = (state: object, some: readonly string[]) =>
    Object.fromEntries(some.map((key) => [key, Reflect.get(state, key)]));
  const standing = (state: object | undefined): unknown => Reflect.get(require(state), "state");
  return {
    require,
    add(state, config, notes = {}) {
      if (state !== undefined) {
        throw failedPrecondition(idUsed, `${article(words)} with this id exists`);
      }
      const values: Record<string, unknown> = { ...notes };
      for (const key of keys) {
        const value: unknown = Reflect.get(config, key);
        if (value !== fields[key]?.absent) values[key] = value;
      }
      return make(verbs.added, values);
    },
    patch(state, patch, notes = {}) {
      const now = require(state);
      const changes = changedFields<object>(now, patch);
      for (const key of Object.keys(changes)) {
        const isSame = fields[key]?.same?.(Reflect.get(now, key), Reflect.get(changes, key));
        if (isSame === true) Reflect.deleteProperty(changes, key);
      }
      if (isEmpty(changes) && isEmpty(notes)) return [];
      return make(verbs.changed, { ...among(now, repeated), ...changes, ...notes });
    },
    deactivate(state) {
      if (standing(state) !== "inactive") return make("deactivated", {});
      throw failedPrecondition(`${reason}_INACTIVE`, `the ${words} is inactive already`);
    },
    activate(state) {
      if (standing(state) !== "active") return make("reactivated", {});
      throw failedPrecondition(`${reason}_ACTIVE`, `the ${words} is active already`);
    },
    remove: (state) => make(verbs.removed, among(require(state), kept)),
  };
}

const article = (words: string) => `${/^[aeio]/.test(words) ? "an" : "a"} ${words}`;

function eventsOf({ events, verbs = usualVerbs, facts = {}, ...declared }: AnyDeclared) {
  const { aggregateType = events, states, unique } = declared;
  const held = (config: object) =>
    unique?.fields.every((field) => Reflect.get(config, field) !== undefined)
      ? [hold(unique.claim, unique.of(config as never))]
      : [];
  const released = () => (unique === undefined ? [] : [release(unique.claim)]);
  const own = Object.entries(facts).map(([key, { payload: rules, effect }]) => {
    const claims = (value: object) => [...released(), ...(rules.claims?.(value) ?? [])];
    return [key, effect.ends === true ? { ...rules, claims } : rules] as const;
  });
  return defineEvents(
    events,
    {
      [verbs.added]: payload<object>({ claims: held }),
      ...(verbs.changed && { [verbs.changed]: payload<object>({ claims: held }) }),
      ...(states ? { deactivated: payload<object>(), reactivated: payload<object>() } : {}),
      ...(verbs.removed && { [verbs.removed]: payload<object>({ claims: released }) }),
      ...Object.fromEntries(own),
    },
    aggregateType,
  );
}
