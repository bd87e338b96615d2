import {
  type AnyPayload,
  type Payload,
  type PayloadRules,
  type Recorded,
  payload,
} from "../../eventstore/event.ts";
import type { RowChange } from "../../storage/row-change.ts";
import type { on } from "../../projection/projection.ts";
import type {
  AnyDefinition,
  AnyTable,
  instant,
  int64,
  table,
  TableOptions,
  text,
} from "../../storage/table.ts";
import type {
  AbsentKeys,
  ConfigOf,
  Fields,
  FixedKeys,
  FoldedNames,
  NamedColumns,
  UnsaidKeys,
} from "./fields.ts";
import type { RowState } from "./filters.ts";

export type Nothing = Record<string, never>;

/** An event beside those that every resource has. The fields that its payload names become what it says. */
export type Fact<P extends AnyPayload = AnyPayload> = {
  payload: P;
  effect: Effect;
};
type Effect<P = never, S = never> = {
  /** What fields become that the payload does not name. */
  sets?: (payload: P) => object;
  /** What columns become that are no fields. */
  row?: (payload: P) => object;
  /** What else becomes of the state. */
  evolve?: (state: S, payload: P) => object;
  /** What becomes of rows of other tables. */
  rows?: (event: Recorded & { payload: P }) => RowChange[];
  /** The object does not count as changed by it. */
  untouched?: boolean;
  /** Whether the object is gone with it. */
  ends?: boolean;
};

/** Declares an event beside those that every resource has; S is the state, where the event changes it by a function. */
export const fact = <P, S = never>(
  effect: Effect<P, S> = {},
  rules: PayloadRules<P> = {},
): Fact<Payload<P>> => ({ payload: payload<P>(rules), effect });

export type Facts = Readonly<Record<string, Fact>>;
/** What the events of every resource are called; what has no name here it does not have. */
export type Verbs = { added: string; changed?: string; removed?: string };
export type UsualVerbs = { added: "added"; changed: "changed"; removed: "removed" };

type ChangedOf<V> = V extends { changed: infer C extends string } ? C : never;
type RemovedOf<V> = V extends { removed: infer C extends string } ? C : never;

export type State<F extends Fields, S, I> = ConfigOf<F> &
  I &
  (S extends true ? { state: RowState } : unknown);
/** What an object is made with. */
export type Given<F extends Fields> = Omit<ConfigOf<F>, UnsaidKeys<F>>;
export type Changes<F extends Fields> = Partial<Omit<ConfigOf<F>, FixedKeys<F> | UnsaidKeys<F>>>;
// What an event does not say is what it is without it.
type Added<F extends Fields> = Omit<Given<F>, AbsentKeys<F>> &
  Partial<Pick<Given<F>, AbsentKeys<F> & keyof Given<F>>>;
type Standing<S> = S extends true
  ? { deactivated: Payload<Nothing>; reactivated: Payload<Nothing> }
  : unknown;
export type Payloads<F extends Fields, R extends keyof F, S, N, M, V extends Verbs> = {
  [K in V["added"]]: Payload<Added<F> & Partial<N>>;
} & { [K in ChangedOf<V>]: Payload<Changes<F> & Partial<N>> } & {
  [K in RemovedOf<V>]: Payload<Pick<ConfigOf<F>, R & keyof ConfigOf<F>>>;
} & { [K in keyof M]: M[K] extends { payload: infer P } ? P : never } & Standing<S>;

type Text = ReturnType<typeof text>;
type Instant = ReturnType<typeof instant>;
type ObjectColumns<O> = {
  instanceId: Text;
  id: Text;
  sequence: ReturnType<typeof int64>;
  creationDate: Instant;
  changeDate: Instant;
} & (O extends "org" ? { organizationId: Text } : unknown);
export type Beside = Record<string, AnyDefinition>;
type Columns<F extends Fields, O, S, B> = ObjectColumns<O> &
  NamedColumns<F> & { [K in FoldedNames<F>]: Text } & B &
  (S extends true ? { state: Text } : unknown);
export type TableOf<F extends Fields, O, S, B> = ReturnType<typeof table<Columns<F, O, S, B>>>;

/** What a projection does on the events of a set (`on`). */
type Reactions = ReturnType<typeof on>;

/** The rows of a list, one for each value: `as` is the column of the value, `of` that of the object's id. */
export type List = { table: AnyTable; as: string; of: string };

export type Declared<
  F extends Fields,
  A extends string,
  O extends "org" | "instance",
  R extends keyof F & string,
  S extends boolean,
  N,
  M,
  V extends Verbs,
  B,
  I,
> = {
  /** In snake_case, as reasons and messages spell it: `project`. */
  name: string;
  /** What the public names of its events begin with. */
  events: A;
  /** What its events are called, where that is not added, changed and removed. */
  verbs?: V;
  /** Its events have texts of their own (`src/texts/events`), that do not follow from its name. */
  ownTexts?: boolean;
  /** The type of its aggregate, where the events have another prefix. */
  aggregateType?: string;
  table: string;
  owner: O;
  fields: F;
  /** Whether it can be inactive. */
  states: S;
  /** What the event of the removal keeps, so that it can be read in a history. */
  kept: readonly R[];
  /** Fixed fields that every event of a change repeats. */
  repeated?: readonly (keyof F & string)[];
  /** What no two of an instance have alike: a claim of this kind, of a value of these fields that is folded already. */
  unique?: {
    claim: string;
    fields: readonly (keyof F & string)[];
    of: (config: ConfigOf<F>) => string;
    /** The refusal of a value that another one has. */
    taken: { reason: string; text: string };
  };
  /** The reason of the refusal to make one under an id that is used; `<NAME>_EXISTS` without. */
  idUsed?: string;
  /** What the events that make and change it tell beside the fields. */
  notes?: Payload<N>;
  /** Events beside those that every resource has. */
  facts?: M & Facts;
  /** What a new object has in its state that is no field. */
  initially?: I;
  /** Columns that are no fields, and what the event that makes the object says of them. */
  beside?: { columns: B & Beside; first: (event: Recorded & { payload: N }) => object };
  /** What else its rows follow from: events of other slices. */
  also?: (rows: TableOf<F, O, S, NoInfer<B>>) => Reactions[];
  /** Tables of the values of fields that are lists, to find objects by one of them. */
  lists?: { readonly [K in keyof F & string]?: List };
  /** Tables of what belongs to it, that the events change as well. */
  tables?: readonly AnyTable[];
  indexes: NonNullable<TableOptions<Columns<F, O, S, NoInfer<B>>>["indexes"]>;
};

/** A declaration of whatever fields. */
export type AnyDeclared = {
  name: string;
  events: string;
  verbs?: Verbs;
  aggregateType?: string;
  table: string;
  owner: "org" | "instance";
  states: boolean;
  fields: Fields;
  unique?: { claim: string; fields: readonly string[]; of: (config: never) => string };
  facts?: Facts;
  beside?: { columns: Beside; first: (event: never) => object };
  initially?: unknown;
  tables?: readonly AnyTable[];
  also?: (rows: never) => Reactions[];
  lists?: Readonly<Record<string, List | undefined>>;
  indexes: unknown;
};
