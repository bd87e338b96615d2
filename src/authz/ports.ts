import type { Awaitable } from "../awaitable.ts";
import type { Presence } from "../eventstore/presence.ts";
import type { Caller, Scope } from "./context.ts";
import type { Transaction } from "../eventstore/transaction.ts";
import type { Power } from "./holds.ts";
import type { MemberContext, Membership } from "./permissions.ts";

/** What the kernel asks of the directory slices; app wires them together. */
export interface InstanceReader {
  /** The instance that owns the domain (B1: exact, without port). */
  byDomain(domain: string): Awaitable<{ id: string; isBlocked: boolean } | undefined>;
  byId(id: string): Awaitable<{ id: string } | undefined>;
}

/** What instances use in a day, where quotas limit it. */
export interface UsageCounter {
  /**
   * Whether there is room for one more.
   *
   * @throws RESOURCE_EXHAUSTED DAILY_QUOTA_EXHAUSTED
   */
  require(what: "requests" | "tokens", instanceId: string): Awaitable<void>;
  /** Counts one, where the instance has a quota of it. */
  count(what: "requests" | "tokens", instanceId: string): Awaitable<void>;
}

/** Awaited before what changes something begins: half of a flush at most, and nothing where none is under way (`storage/database.ts`). */
export type BeforeChange = () => Promise<void> | undefined;

export interface OrganizationReader {
  byId(instanceId: string, id: string): Awaitable<{ id: string; state: string } | undefined>;
  byDomain(instanceId: string, domain: string): Awaitable<{ id: string } | undefined>;
}

export interface MembershipReader {
  ofUser(instanceId: string, userId: string): Awaitable<readonly Membership[]>;
}

/** The roles that a user gets in a context. */
export type NewMember = { userId: string; roles: string[]; context: MemberContext };

/**
 * Makes a user a member, in the unit that makes the user or the context; nobody is asked whether they may give the roles.
 *
 * @throws INVALID_ARGUMENT ROLE_UNKNOWN
 */
export type MakeMember = (tx: Transaction, member: NewMember) => void;

/** What users may do, for those who judge whether somebody covers them (J1). */
export interface PowerReader {
  ofUser(instanceId: string, userId: string): Awaitable<Power>;
  /** The same, which stays so until the unit commits. */
  holdUser(tx: Transaction, instanceId: string, userId: string): Promise<Power>;
  /** What all users of an organization hold at the instance, and all that anybody holds in the organization. */
  ofOrganization(instanceId: string, organizationId: string): Promise<Power>;
  /** The same, which stays so until the unit commits. */
  holdOrganization(tx: Transaction, instanceId: string, organizationId: string): Promise<Power>;
}

/** Which users a login client made who have not logged in yet (J2a). */
export interface RegistrationReader {
  /** Where the user belongs; undefined where somebody else made them, or they have logged in. */
  openFor(
    instanceId: string,
    makerId: string,
    userId: string,
  ): Promise<{ organizationId: string } | undefined>;
}

/** Whether callers proved who they are lately enough to change how they log in (L2). */
export interface StepUp {
  /**
   * @param given.passwordGiven the request holds the current password, which its handler checks
   * @throws UNAUTHENTICATED STEP_UP_REQUIRED
   */
  require(
    scope: Pick<Scope, "instanceId" | "caller">,
    given?: { passwordGiven?: boolean },
  ): Awaitable<void>;
}

/**
 * Recognises one kind of bearer token.
 *
 * Undefined when the token is of another kind; an UNAUTHENTICATED error when it is of this kind and not valid.
 */
export type TokenVerifier = (
  token: string,
  at: { instanceId: string; issuer: string },
) => Awaitable<Caller | undefined>;

/**
 * The token that the service keeps for the browser of a call that comes from a page of its own; undefined where the call comes from
 * elsewhere, or the browser is not signed in there any more.
 */
export type BrowserTokens = (call: {
  instanceId: string;
  issuer: string;
  headers: { get(name: string): string | undefined };
}) => Awaitable<string | undefined>;

export interface FeatureReader {
  isOn(instanceId: string, feature: string): Awaitable<boolean>;
}

/** Which pages of other origins may call the instance from a browser (A3). */
export interface OriginReader {
  isAllowedOrigin(instanceId: string, origin: string): Awaitable<boolean>;
}

/** A token, and the one place where it must be for a domain to be proven. */
export type DomainChallenge = { token: string; url?: string; record?: string };

/** `unreachable`: nothing could be read there, which says nothing of the token. */
export type DomainProof = "proven" | "absent" | "unreachable";

/** A key, secret or token that stands for its owner until it ends, by what it is of and which one it is. */
export type CredentialUse = {
  instanceId: string;
  /** The user or the app. */
  ownerId: string;
  kind: "pat" | "key" | "secret" | "web_authn";
  id: string;
};

/** Of secrets an owner has one. */
export const onlySecret = { kind: "secret", id: "1" } as const;

/** Notes that a credential was used; nobody waits for it. */
export type NoteUse = (use: CredentialUse) => void;

/** Something that was refused: a log-in, the authentication of a client, a call of somebody who is known. */
export type Refused = {
  instanceId: string;
  kind: "login" | "client" | "call";
  /** Stable, in capitals. */
  reason: string;
  /** What was called. */
  operation: string;
  /** Whose account was tried, or who called. */
  userId?: string | undefined;
  clientId?: string | undefined;
  idpId?: string | undefined;
  /** Where the client belongs; where a user does is looked up. */
  organizationId?: string | undefined;
  presence: Presence | undefined;
};

/** Notes that something was refused; nobody waits for it, and it cannot fail. */
export type NoteRefusal = (refused: Refused) => void;

/** The sessions of a user, for who must know by whom they were made. */
export interface SessionMakers {
  /** Those that live, as they still must be when the unit commits. */
  ofUser(
    tx: Transaction,
    at: { instanceId: string; userId: string },
  ): Promise<readonly { id: string; makerId: string; createdAt: Date }[]>;
  end(tx: Transaction, at: { instanceId: string; sessionId: string }): Promise<void>;
}

/** What was issued in the name of a user, for who must know who acts by it. */
export interface TokensInName {
  /** Whoever acts for the user, by tokens that live. */
  actors(at: { instanceId: string; userId: string }): Promise<readonly string[]>;
  /** Ends what was issued to a machine user itself. */
  endOfMachine(tx: Transaction, at: { instanceId: string; userId: string }): Promise<void>;
}

/** The methods that the running process serves: execution conditions are checked against them. */
export type Registry = {
  /** `/<package>.<Service>/<Method>`, sorted. */
  methods(): readonly string[];
  /** `<package>.<Service>`, sorted. */
  services(): readonly string[];
};
