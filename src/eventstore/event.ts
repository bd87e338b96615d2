import type { ClaimChange } from "../storage/database.ts";
import type { SequenceValue } from "../storage/row-change.ts";

/** An event before it is written: its public name and what happened. */
export type NewEvent<T extends string = string, P = unknown> = { type: T; payload: P };

/** Who an object belongs to (the specification's Owner). */
export type OwnerRef = { type: "system" | "instance" | "org"; id: string };

/** An event as reducers and readers see it. Its sequence is a number once it is committed. */
export type Recorded<E extends NewEvent = NewEvent> = E & {
  instanceId: string;
  sequence: SequenceValue;
  aggregateType: string;
  aggregateId: string;
  aggregateVersion: bigint;
  revision: number;
  owner: OwnerRef;
  editorId: string;
  service: string;
  clientId: string;
  requestId: string;
  createdAt: Date;
  /** The unit that writes it makes the object, which nothing in the store can refer to yet. Absent in what is read from the log. */
  isOfNew?: boolean;
};

/** A claim as an event states it; scope and holder follow from the event. */
export type ClaimStatement = {
  op: ClaimChange["op"];
  kind: string;
  value?: string;
  systemWide?: boolean;
};

/** Takes the value for this object and lets go of what the object held of the kind. The value is already folded. */
export const hold = (kind: string, value: string): ClaimStatement => ({ op: "hold", kind, value });
/** Takes the value beside others of the kind that this object holds. */
export const holdAlso = (kind: string, value: string, systemWide = false): ClaimStatement => ({
  op: "add",
  kind,
  value,
  systemWide,
});
/** Lets go of the value, or of everything of the kind. */
export const release = (kind: string, value?: string): ClaimStatement =>
  value === undefined ? { op: "release", kind } : { op: "release", kind, value };

// Of a union of shapes, the keys of every one.
type KeyOfEach<P> = P extends unknown ? keyof P & string : never;

/** Who has a personal key: a user, or what tells of a person before it is known whom. */
export type Subject = { type: string; id: string };

export type PayloadRules<P> = {
  /** Texts that tell of a person: encrypted with the key of the user the event is about (C7), empty once it is gone. */
  personal?: KeyOfEach<P>[];
  /** Whose key encrypts: a user by their id, or another owner; by default the user that the aggregate is. */
  subject?: (payload: P, aggregateId: string) => string | Subject;
  claims?: (payload: P) => ClaimStatement[];
  revision?: number;
};

export type Payload<P> = PayloadRules<P> & { readonly payloadType?: P | undefined };

/** Declares what an event carries. */
export const payload = <P>(rules: PayloadRules<P> = {}): Payload<P> => rules;

// oxlint-disable-next-line no-explicit-any -- a payload's type is its own; maps only hold them together.
export type AnyPayload = Payload<any>;
type Payloads = Record<string, AnyPayload>;
type PayloadOf<D> = D extends Payload<infer P> ? P : never;

/** The key under which a set of events keeps its rules. */
export const definition = Symbol("definition");

export type EventDefinitions<A extends string, D extends Payloads> = {
  [K in keyof D & string]: (payload: PayloadOf<D[K]>) => NewEvent<`${A}.${K}`, PayloadOf<D[K]>>;
} & AnyEvents<
  { [K in keyof D & string]: NewEvent<`${A}.${K}`, PayloadOf<D[K]>> }[keyof D & string]
>;

/** Any set of definitions, of these events. */
export type AnyEvents<E extends NewEvent = NewEvent> = {
  readonly [definition]: {
    aggregateType: string;
    rules: ReadonlyMap<string, AnyPayload>;
    readonly events?: E;
  };
};

/** The union of the events that a set of definitions makes. */
export type EventOf<S extends AnyEvents> = S extends AnyEvents<infer E> ? E : never;

/**
 * Defines the events of an aggregate. Names are public (`<prefix>.<key>`): execution conditions match on them and a
 * golden list in the tests freezes them.
 */
export function defineEvents<A extends string, D extends Payloads>(
  prefix: A,
  payloads: D,
  aggregateType: string = prefix,
): EventDefinitions<A, D> {
  const rules = new Map<string, AnyPayload>();
  const makers: Record<string, unknown> = {};
  for (const [key, rule] of Object.entries(payloads)) {
    const type = `${prefix}.${key}`;
    rules.set(type, rule);
    makers[key] = (value: unknown) => ({ type, payload: value });
  }
  return Object.assign(makers, {
    [definition]: { aggregateType, rules },
  }) as unknown as EventDefinitions<A, D>;
}

/** The names of the events of a set of definitions. */
export const eventTypes = (events: AnyEvents): string[] => [...events[definition].rules.keys()];
