import type { Message } from "@bufbuild/protobuf";
import { type AnyDefinition, bool, int, json, optionalJson, text } from "../../storage/table.ts";

/** A property of a resource, and how it is stored. */
export type Field<T, C extends AnyDefinition = AnyDefinition> = {
  column: C;
  /** It stays what it was made. */
  fixed?: boolean;
  /** A column of its fold stands beside it, by which it is searched ignoring case. */
  folded?: boolean;
  /** The name of its column, where that is another one. */
  as?: string;
  /** What it is where events of earlier releases do not tell. */
  absent?: T;
  /** What its column holds until an event says it; whoever makes an object does not. */
  unsaid?: T;
  /** Whether two values are the same; without it, where they are written alike. */
  same?(one: T, other: T): boolean;
};

export type Fields = Readonly<Record<string, Field<unknown>>>;

/**
 * What a resource declares whose messages are these: `fields: { … } satisfies FieldsOf<Project | GetProject>`. The compiler names a field
 * that one of the messages has and the declaration has not, and one that none of them has.
 */
export type FieldsOf<M extends Message> = Readonly<
  Record<
    Exclude<M extends unknown ? keyof M : never, keyof Message | "details" | "state">,
    Field<never>
  >
>;

type More<T> = Omit<Field<T>, "column">;
const make =
  <T, C extends AnyDefinition>(column: () => C) =>
  <const M extends More<T>>(more: M): M & { column: C; readonly valueType?: T } => ({
    ...more,
    column: column(),
  });

const sameSet = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((value) => other.includes(value));

/** The kinds of fields. */
export const field = {
  text: make<string, ReturnType<typeof text>>(text),
  bool: make<boolean, ReturnType<typeof bool>>(bool),
  /** A whole number of 32 bits. */
  int: make<number, ReturnType<typeof int>>(int),
  /** Texts that are the same in another order. */
  set: <const M extends More<string[]>>(more: M) =>
    make<string[], ReturnType<typeof json<string[]>>>(json)({ same: sameSet, ...more }),
  /** What is stored as JSON. */
  json: <T>() => make<T, ReturnType<typeof json<T>>>(json<T>),
  /** What is stored as JSON, where some rows have none. */
  optionalJson: <T>() => make<T, ReturnType<typeof optionalJson<T>>>(optionalJson<T>),
};

type ValueOf<M> = M extends { readonly valueType?: infer T } ? Exclude<T, undefined> : never;
export type UnsaidKeys<F extends Fields> = {
  [K in keyof F]: F[K] extends { unsaid: unknown } ? K : never;
}[keyof F];
/** What an object is, by its fields. */
export type ConfigOf<F extends Fields> = {
  [K in Exclude<keyof F, UnsaidKeys<F>>]: ValueOf<F[K]>;
} & { [K in UnsaidKeys<F>]?: ValueOf<F[K]> };
export type FixedKeys<F extends Fields> = {
  [K in keyof F]: F[K] extends { fixed: true } ? K : never;
}[keyof F];

export type AbsentKeys<F extends Fields> = {
  [K in keyof F]: F[K] extends { absent: unknown } ? K : never;
}[keyof F];

type NameOf<F extends Fields, K extends keyof F> = F[K] extends { as: infer N extends string }
  ? N
  : K & string;
/** The columns of the fields, and those of their folds. */
export type NamedColumns<F extends Fields> = { [K in keyof F as NameOf<F, K>]: F[K]["column"] };
export type FoldedNames<F extends Fields> = {
  [K in keyof F]: F[K] extends { folded: true } ? `${NameOf<F, K>}Folded` : never;
}[keyof F];

type Listed = "instanceId" | "id" | "state" | "creationDate" | "changeDate" | "name" | "nameFolded";

/** By what lists of resources that have states and names are filtered and sorted. */
export const indexesOfNamed: { columns: Listed[] }[] = [
  { columns: ["instanceId", "state", "creationDate", "id"] },
  { columns: ["instanceId", "creationDate", "id"] },
  { columns: ["instanceId", "changeDate", "id"] },
  { columns: ["instanceId", "name", "id"] },
  { columns: ["instanceId", "nameFolded", "id"] },
];
