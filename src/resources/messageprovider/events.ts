import {
  type AnyEvents,
  defineEvents,
  type NewEvent,
  payload,
  type Payload,
} from "../../eventstore/event.ts";
import type { StatePolicy } from "../object/reuse/state.ts";
import type { MessageProviderKind, ProviderConfig, ProviderLevel } from "./kind.ts";

/** `config` holds no secret. `statePolicy` is that of the context that the provider belongs to. */
export type ProviderFacts<C> = { description: string; statePolicy: StatePolicy; config: C };

export type ProviderAdded<C> = ProviderFacts<C> & { hasSecret: boolean };
export type ProviderChange<C> = { description?: string; config?: C; signingKeyRotated?: true };
export type ProviderActivated = { statePolicy: StatePolicy };

type Named<S extends string, P> = NewEvent<`${ProviderLevel}.${"smtp" | "sms"}.config.${S}`, P>;
export type AddedEvent<C> = Named<"added", ProviderAdded<C>>;
export type ChangedEvent<C> = Named<"changed", ProviderChange<C>>;
export type ActivatedEvent = Named<"activated", ProviderActivated>;
export type OtherEvent = Named<
  "password.changed" | "token.changed" | "deactivated" | "removed",
  Record<string, never>
>;
export type ProviderEvent<C> = AddedEvent<C> | ChangedEvent<C> | ActivatedEvent | OtherEvent;

/** Facts about a provider, named by the level that it belongs to (specification 10.14). */
export function providerEvents<C extends ProviderConfig>(
  level: ProviderLevel,
  { name, secret }: MessageProviderKind<C>,
): AnyEvents<ProviderEvent<C>> {
  const payloads: Record<string, Payload<ProviderEvent<C>["payload"]>> = {
    added: payload(),
    changed: payload(),
    [`${secret}.changed`]: payload(),
    activated: payload(),
    deactivated: payload(),
    removed: payload(),
  };
  const events = defineEvents(`${level}.${name}.config`, payloads, name);
  // The names are put together as the types above say.
  return events as AnyEvents<NewEvent> as AnyEvents<ProviderEvent<C>>;
}

const ends = (event: NewEvent, ending: string) => event.type.endsWith(`.config.${ending}`);
export const isAdded = <C>(event: ProviderEvent<C>): event is AddedEvent<C> => ends(event, "added");
export const isChanged = <C>(event: ProviderEvent<C>): event is ChangedEvent<C> =>
  ends(event, "changed");
export const isActivated = <C>(event: ProviderEvent<C>): event is ActivatedEvent =>
  ends(event, "activated");
export const isDeactivated = (event: NewEvent): boolean => ends(event, "deactivated");
export const isRemoved = (event: NewEvent): boolean => ends(event, "removed");

export const levelOf = ({ type }: NewEvent): ProviderLevel =>
  type.startsWith("system.") ? "system" : "instance";
