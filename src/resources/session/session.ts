import { failedPrecondition, notFound } from "../../errors.ts";
import { aggregate } from "../../eventstore/aggregate.ts";
import {
  type Ending,
  type MetadataSet,
  type SessionEvent,
  sessionEvents,
  type UserAgentSet,
} from "./events.ts";

/** Values in base64, by name. */
export type Metadata = Readonly<Record<string, string>>;

export type Session = {
  user: { id: string; organizationId: string } | undefined;
  /** The last challenge of WebAuthn, until it is answered. */
  challengeId: string | undefined;
  /** Whether it had a one-time password sent that was not given yet. */
  awaits: { sms: boolean; email: boolean };
  metadata: Metadata;
};

type State = Session | undefined;

export const session = aggregate(sessionEvents, undefined as State, evolve);

const most = 100;
const newSession: Session = {
  user: undefined,
  challengeId: undefined,
  awaits: { sms: false, email: false },
  metadata: {},
};

function evolve(state: State, event: SessionEvent): State {
  if (event.type === "session.added") return newSession;
  if (state === undefined || event.type === "session.terminated") return undefined;
  switch (event.type) {
    case "session.user.checked": {
      const { userId: id, organizationId } = event.payload;
      return { ...state, user: { id, organizationId } };
    }
    case "session.webauthn.challenged":
      return { ...state, challengeId: event.payload.challengeId };
    case "session.webauthn.checked":
      return { ...state, challengeId: undefined };
    case "session.otp.sms.challenged":
      return { ...state, awaits: { ...state.awaits, sms: true } };
    case "session.otp.sms.checked":
      return { ...state, awaits: { ...state.awaits, sms: false } };
    case "session.otp.email.challenged":
      return { ...state, awaits: { ...state.awaits, email: true } };
    case "session.otp.email.checked":
      return { ...state, awaits: { ...state.awaits, email: false } };
    case "session.metadata.set":
      return { ...state, metadata: foldMetadata(state.metadata, event.payload) };
    case "session.user_agent.set":
    case "session.password.checked":
    case "session.intent.checked":
    case "session.totp.checked":
    case "session.email.challenged":
    case "session.email.checked":
    case "session.recovery_code.checked":
    case "session.second_factor.spared":
    case "session.lifetime.set":
    case "session.token.set":
      return state;
    default:
      return event satisfies never;
  }
}

/** What an event says of values, by name; null where one was removed. Of an erased person nothing is left. */
export const changedMetadata = ({ metadata }: MetadataSet): [string, string | null][] =>
  metadata === "" ? [] : Object.entries(JSON.parse(metadata));

function foldMetadata(metadata: Metadata, changes: MetadataSet): Metadata {
  const all = new Map<string, string | null>(Object.entries(metadata));
  for (const [name, value] of changedMetadata(changes)) all.set(name, value);
  return Object.fromEntries([...all].filter((one): one is [string, string] => one[1] !== null));
}

export const addSession = (): SessionEvent[] => [sessionEvents.added({})];

/** @throws FAILED_PRECONDITION SESSION_USER_FIXED */
export function nameUser(
  state: State,
  { id: userId, organizationId }: { id: string; organizationId: string },
): SessionEvent[] {
  if (requireSession(state).user !== undefined) throw userFixed();
  return [sessionEvents["user.checked"]({ userId, organizationId })];
}

export const setUserAgent = (
  state: State,
  userAgent: Omit<UserAgentSet, "userId">,
): SessionEvent[] => [
  sessionEvents["user_agent.set"]({ userId: requireSession(state).user?.id, ...userAgent }),
];

/**
 * Keeps values; an empty one is removed. Values that are there already are no event.
 *
 * @throws FAILED_PRECONDITION SESSION_METADATA_FULL
 */
export function setMetadata(state: State, wanted: Metadata): SessionEvent[] {
  const { user, metadata } = requireSession(state);
  const known = new Map(Object.entries(metadata));
  const changes = Object.entries(wanted)
    .filter(([name, value]) => value !== (known.get(name) ?? ""))
    .map(([name, value]): [string, string | null] => [name, value === "" ? null : value]);
  if (changes.length === 0) return [];
  const set = { userId: user?.id, metadata: JSON.stringify(Object.fromEntries(changes)) };
  if (Object.keys(foldMetadata(metadata, set)).length > most) throw metadataFull();
  return [sessionEvents["metadata.set"](set)];
}

export const setLifetime = (now: Date, lifetimeMs: number): SessionEvent[] => [
  sessionEvents["lifetime.set"]({
    expirationDate: new Date(now.getTime() + lifetimeMs).toISOString(),
  }),
];

/** Announces a new token; its digest goes into the secrets of the same unit. */
export const setToken = (): SessionEvent[] => [sessionEvents["token.set"]({})];

export function terminate(state: State, ending: Ending): SessionEvent[] {
  requireSession(state);
  return [sessionEvents.terminated({ ending })];
}

/** @throws NOT_FOUND SESSION_NOT_FOUND */
export function requireSession(state: State): Session {
  if (state === undefined) throw sessionNotFound();
  return state;
}

export const sessionNotFound = () =>
  notFound("SESSION_NOT_FOUND", "the session does not exist, or has ended");

export const userFixed = () =>
  failedPrecondition("SESSION_USER_FIXED", "the session has its user: make another one");

export const userMissing = () =>
  failedPrecondition(
    "SESSION_USER_MISSING",
    "the session has no user yet: name them first, or in the same request",
  );

const metadataFull = () =>
  failedPrecondition("SESSION_METADATA_FULL", `a session holds ${most} values at most`);
