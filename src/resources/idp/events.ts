import type { JsonObject } from "@bufbuild/protobuf";
import {
  type AnyEvents,
  defineEvents,
  type NewEvent,
  type OwnerRef,
  payload,
  type Payload,
} from "../../eventstore/event.ts";
import type { StatePolicy } from "../object/reuse/state.ts";
import { type IdpType, idpTypes } from "./provider-types.ts";

export type AutoLinking = "none" | "username" | "email";

/** What happens when somebody logs in with an external account. */
export type IdpOptions = {
  isLinkingAllowed: boolean;
  isCreationAllowed: boolean;
  isAutoCreation: boolean;
  isAutoUpdate: boolean;
  autoLinking: AutoLinking;
  /** A login with it counts as two factors; absent in older events. */
  isSecondFactor?: boolean;
  /** What the provider says of addresses counts as verified, where it says nothing of that; absent in older events. */
  isEmailTrusted?: boolean;
  isPhoneTrusted?: boolean;
};

/** `config` is the JSON of the type's message, with all its fields but the secret. */
export type IdpFacts = {
  name: string;
  /** Of the context that the provider belongs to. */
  statePolicy: StatePolicy;
  options: IdpOptions;
  config: JsonObject;
  /** An image, in base64; empty for none. Absent in older events. */
  mark?: string;
};

export type IdpAdded = IdpFacts & { hasSecret: boolean };
export type IdpChange = Partial<IdpFacts> & { secretChanged?: boolean };
export type IdpRemoved = { name: string };

/** Where a provider can belong. */
export type IdpLevel = Exclude<OwnerRef["type"], "system">;

export type IdpAddedEvent = NewEvent<`${IdpLevel}.idp.${IdpType}.added`, IdpAdded>;
export type IdpChangedEvent = NewEvent<`${IdpLevel}.idp.${IdpType}.changed`, IdpChange>;
export type IdpRemovedEvent = NewEvent<`${IdpLevel}.idp.removed`, IdpRemoved>;
export type IdpEvent = IdpAddedEvent | IdpChangedEvent | IdpRemovedEvent;

const payloads: Record<string, Payload<IdpEvent["payload"]>> = { removed: payload() };
for (const type of idpTypes) {
  payloads[`${type}.added`] = payload();
  payloads[`${type}.changed`] = payload();
}

const ofLevel = (level: IdpLevel): AnyEvents<IdpEvent> =>
  defineEvents(`${level}.idp`, payloads, "idp") as AnyEvents<NewEvent> as AnyEvents<IdpEvent>;

/** Facts about a provider, named by the level that it belongs to and by its type. */
export const instanceIdpEvents = ofLevel("instance");
export const organizationIdpEvents = ofLevel("org");

export const isAdded = (event: IdpEvent): event is IdpAddedEvent => event.type.endsWith(".added");
export const isChanged = (event: IdpEvent): event is IdpChangedEvent =>
  event.type.endsWith(".changed");

/** The type of the provider that an event of its configuration is about. */
export const idpTypeOf = ({ type }: IdpAddedEvent | IdpChangedEvent): IdpType => {
  const named = type.split(".")[2];
  const known = idpTypes.find((each) => each === named);
  if (known === undefined) throw new Error(`${type} names no type of providers`);
  return known;
};
