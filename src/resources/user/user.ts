import type { JsonObject } from "@bufbuild/protobuf";
import { alreadyExists, failedPrecondition, notFound } from "../../errors.ts";
import { aggregate } from "../../eventstore/aggregate.ts";
import type { Loaded } from "../../eventstore/eventstore.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import { sameJson } from "../object/same-json.ts";
import type { Authenticator } from "./authenticator/authenticators.ts";
import { afterEvent } from "./authenticator/events.ts";
import {
  type AddedUser,
  type AuthenticatorEvent,
  type ChangedData,
  isAuthenticatorEvent,
  type Reach,
  type UserEvent,
  userEvents,
} from "./events.ts";
import { firstData, firstEmail, parseData } from "./user-data.ts";

export type Proven<A> = A & Reach & { isVerified: boolean };

export type User = {
  organizationId: string;
  username: string;
  /** What another system calls them. */
  externalId: string | undefined;
  schemaId: string;
  schemaType: string;
  schemaRevision: number;
  data: JsonObject;
  state: "active" | "inactive" | "locked";
  email: Proven<{ address: string }> | undefined;
  phone: Proven<{ number: string }> | undefined;
  /** The last claim of a domain that the log tells them of, while the name that it gave them is theirs. */
  claim: { id: string; domain: string } | undefined;
  /** What they log in with. */
  authenticators: readonly Authenticator[];
  /** The pages of the login let them in with a second factor alone, whatever the settings say. */
  owesSecondFactor?: true;
};

type State = User | undefined;

export const user = aggregate(userEvents, undefined as State, evolve);

function evolve(state: State, event: UserEvent): State {
  switch (event.type) {
    case "user.human.added":
    case "user.machine.added":
    case "user.added":
      return { ...newUser, ...firstData(event), email: firstEmail(event) };
    case "user.removed":
      return undefined;
    default:
      if (state === undefined) return undefined;
      return isAuthenticatorEvent(event)
        ? { ...state, authenticators: afterEvent(state.authenticators, event) }
        : { ...state, ...changeOf(state, event) };
  }
}

const newUser = {
  state: "active",
  externalId: undefined,
  email: undefined,
  phone: undefined,
  claim: undefined,
  authenticators: [],
} as const;

type Later = Exclude<
  UserEvent,
  | AuthenticatorEvent
  | { type: "user.human.added" | "user.machine.added" | "user.added" | "user.removed" }
>;

function changeOf({ email, phone }: User, event: Later): Partial<User> {
  switch (event.type) {
    case "user.human.profile.changed":
    case "user.machine.changed":
    case "user.changed":
      return { ...event.payload, data: parseData(event.payload.data) };
    case "user.username.changed":
      return { username: event.payload.username, claim: undefined };
    case "user.external_id.changed":
      return { externalId: event.payload.externalId || undefined };
    case "user.domain.claimed":
      return { claim: { id: event.payload.claimId, domain: event.payload.domain } };
    case "user.deactivated":
      return { state: "inactive" };
    case "user.locked":
      return { state: "locked" };
    case "user.reactivated":
    case "user.unlocked":
      return { state: "active" };
    case "user.human.email.changed":
      return { email: { ...event.payload, isVerified: false } };
    case "user.human.email.verified":
      return email === undefined ? {} : { email: proven(email, event.payload) };
    case "user.human.phone.changed":
      return { phone: { ...event.payload, isVerified: false } };
    case "user.human.phone.verified":
      return phone === undefined ? {} : { phone: proven(phone, event.payload) };
    case "user.human.mfa.setup.demanded":
      return { owesSecondFactor: true };
    case "user.human.email.verification.failed":
    case "user.human.email.code.added":
    case "user.human.initialization.code.added":
    case "user.human.phone.verification.failed":
    case "user.human.phone.code.added":
    case "user.sessions.ended":
    case "user.recovery.link.added":
    case "user.recovery.link.used":
      return {};
    default:
      return event satisfies never;
  }
}

function proven<A extends Reach>(contact: A, { reach }: Reach) {
  const { reach: _, ...same } = contact;
  return { ...same, isVerified: true, ...(reach === undefined ? {} : { reach }) };
}

/** Data of one of the schemas that every instance has. */
export const builtInData = (schema: "human" | "machine", data: JsonObject) => ({
  schemaId: schema,
  schemaType: schema,
  schemaRevision: 1,
  data,
});

/** @throws ALREADY_EXISTS USER_ID_TAKEN also for the id of a user who is gone: nothing of theirs may pass to another */
export function addUser({ version }: Loaded<State>, wanted: AddedUser<JsonObject>): UserEvent[] {
  if (version > 0n) throw userIdTaken();
  if (wanted.schemaType === "machine") return [userEvents["machine.added"](wanted)];
  const isHuman = wanted.schemaType === "human";
  return [userEvents[isHuman ? "human.added" : "added"](asText(wanted))];
}

/** The data of whoever may be a person are one text, which is encrypted as a whole. */
const asText = <D extends { data: JsonObject }>(wanted: D) => ({
  ...wanted,
  data: JSON.stringify(wanted.data),
});

/** The same data under the same schema are no event. */
export function changeData(state: State, wanted: ChangedData<JsonObject>): UserEvent[] {
  const { schemaId, schemaRevision, data } = requireThere(state);
  const isSameSchema = schemaId === wanted.schemaId && schemaRevision === wanted.schemaRevision;
  if (isSameSchema && sameJson(data, wanted.data)) return [];
  if (wanted.schemaType === "machine") return [userEvents["machine.changed"](wanted)];
  const isHuman = wanted.schemaType === "human";
  return [userEvents[isHuman ? "human.profile.changed" : "changed"](asText(wanted))];
}

export function changeUsername(state: State, username: string): UserEvent[] {
  const { organizationId, username: before } = requireThere(state);
  return username === before ? [] : [userEvents["username.changed"]({ organizationId, username })];
}

/** @param externalId what another system calls the user from now on; the empty text where none does */
export function changeExternalId(state: State, externalId: string): UserEvent[] {
  const { organizationId, externalId: before = "" } = requireThere(state);
  return externalId === before
    ? []
    : [userEvents["external_id.changed"]({ organizationId, externalId })];
}

export function deactivateUser(state: State): UserEvent[] {
  if (requireThere(state).state === "inactive") {
    throw userInactive("the user is deactivated already");
  }
  return [userEvents.deactivated({})];
}

export function activateUser(state: State): UserEvent[] {
  if (requireThere(state).state !== "inactive") {
    throw failedPrecondition("USER_NOT_INACTIVE", "the user is not deactivated");
  }
  return [userEvents.reactivated({})];
}

export function lockUser(state: State): UserEvent[] {
  const { state: now } = requireThere(state);
  if (now === "locked") throw failedPrecondition("USER_LOCKED", "the user is locked already");
  if (now === "inactive") {
    throw userInactive("a deactivated user cannot be locked: activate them");
  }
  return [userEvents.locked({})];
}

/** @param isThrottled an active user whose passwords or codes are not looked at now can be unlocked too */
export function unlockUser(state: State, isThrottled = false): UserEvent[] {
  const { state: now } = requireThere(state);
  if (now !== "locked" && !(now === "active" && isThrottled)) {
    throw failedPrecondition("USER_NOT_LOCKED", "the user is neither locked nor throttled");
  }
  return [userEvents.unlocked({})];
}

export const removeUser = (state: State): UserEvent[] => [
  userEvents.removed({ organizationId: requireThere(state).organizationId }),
];

/** Announces a new password; its hash goes into the secrets of the same unit. */
export function changePassword(state: State, changeRequired: boolean): UserEvent[] {
  requireThere(state);
  return [userEvents["human.password.changed"]({ changeRequired })];
}

/** Announces a personal access token; its digest goes into the secrets of the same unit. */
export function addPersonalAccessToken(
  state: State,
  tokenId: string,
  expirationDate?: Date,
): UserEvent[] {
  requireThere(state);
  return [userEvents["pat.added"]({ tokenId, expirationDate: expirationDate?.toISOString() })];
}

/** Makes sure that the user is still there when the unit commits. */
export const requireUser = async (tx: Transaction, id: string): Promise<User> =>
  requireThere((await tx.load(user, id)).state);

/** @throws NOT_FOUND USER_NOT_FOUND */
export function requireThere(state: State): User {
  if (state === undefined) throw userNotFound();
  return state;
}

export const userIdTaken = () =>
  alreadyExists("USER_ID_TAKEN", "the id is or was in use in the instance");

export const userInactive = (text: string) => failedPrecondition("USER_INACTIVE", text);

export const userNotFound = (text = "the user does not exist") => notFound("USER_NOT_FOUND", text);
