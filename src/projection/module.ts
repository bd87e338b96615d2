import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type {
  DomainChallenge,
  DomainProof,
  FeatureReader,
  MembershipReader,
  NoteRefusal,
  NoteUse,
  OrganizationReader,
  SessionMakers,
  TokensInName,
} from "../authz/ports.ts";
import type { Budgets } from "../authz/budgets.ts";
import type { ServiceBinding } from "../authz/service.ts";
import type { Tenancy } from "../authz/tenancy.ts";
import type { EgressClient } from "../egress/client.ts";
import type { DomainError } from "../errors.ts";
import type { Aggregate } from "../eventstore/aggregate.ts";
import type { AnyEvents } from "../eventstore/event.ts";
import type { EventStore } from "../eventstore/eventstore.ts";
import type { SecretStore } from "../eventstore/secret-store.ts";
import type { Invariant, Reaction } from "../eventstore/settle.ts";
import type { WriteContext } from "../eventstore/transaction.ts";
import type { Federation } from "../federation/index.ts";
import type { JobHandlers } from "../jobs/job.ts";
import type { Sweep } from "../jobs/sweeper.ts";
import type { Database } from "../storage/database.ts";
import type { AnyTable } from "../storage/table.ts";
import type { Projection } from "./projection.ts";

/** What a slice may use of the kernel. */
export type Deps = {
  db: Database;
  events: EventStore;
  secrets: SecretStore;
  /** Who may see and do what to objects of organizations. */
  tenancy: Tenancy;
  /** The organizations that live. */
  organizations: OrganizationReader;
  /** What users are members of, as far as they have accepted it. */
  memberships: MembershipReader;
  newId: () => string;
  /** Of the running service. */
  version: string;
  now: () => Date;
  limits: {
    listDefault: number;
    listMax: number;
    historyDefault: number;
    historyMax: number;
    /** How many may follow logs at once, in this process. */
    followers: { ofCaller: number; inAll: number };
  };
  /** Refuses addresses that the service must not call (X13), naming the field that holds the url. */
  checkUrl: (url: string, field: string) => void;
  /** Looks up whether the token of a domain is in its place, by the guarded way out (X13). */
  proveDomain: (
    challenge: DomainChallenge,
    signal: AbortSignal | undefined,
  ) => Promise<DomainProof>;
  /** Whether a password is known from a breach; no, where that cannot be found out (L7). */
  isBreached: (password: string) => Promise<boolean>;
  /**
   * Reads a message from the bytes of its JSON, as the API reads requests, and holds it to the rules of the schema. Fields
   * that it does not have are passed over.
   * @throws INVALID_ARGUMENT MALFORMED_JSON, INVALID_JSON_FIELD, VALIDATION_FAILED and their like
   */
  readMessage: ReadMessage;
  /** The guarded way out (X13). */
  egress: Pick<EgressClient, "call">;
  /** Logins with identity providers, by the guarded way out. */
  federation: Federation;
  /** Notes that a key, secret or token was used, once an hour. */
  noteUse: NoteUse;
  /** Notes that somebody was refused. */
  noteRefusal: NoteRefusal;
  /** By whom the sessions of a user were made. */
  sessionMakers: SessionMakers;
  /** Who acts by what was issued in the name of a user. */
  tokensInName: TokensInName;
  /** What one source may cost. */
  budgets: Budgets;
  /** Which features are on. */
  features: FeatureReader;
  /** What the running process serves: execution conditions are checked against it. */
  registry: Registry;
};

export type ReadMessage = <D extends DescMessage>(
  type: D,
  json: Uint8Array,
) => Promise<MessageShape<D>>;

export type Registry = {
  /** `/<package>.<Service>/<Method>`, sorted. */
  methods(): readonly string[];
  /** `<package>.<Service>`, sorted. */
  services(): readonly string[];
};

/**
 * Removes up to `limit` of the objects that an organization left behind, by the events that a removal always has, and
 * tells how many; 0 once none is left. It must bear to be stopped anywhere and to begin again.
 */
export type RemoveContents = (
  at: WriteContext,
  organizationId: string,
  limit: number,
) => Promise<number>;

/** Something that a store has from before and that the rules would not allow today, or that will soon need somebody. */
export type Concern = {
  /** In snake_case; the same one from build to build. */
  name: string;
  /** What it is, and what would be right. */
  text: string;
  count: number;
  /** The ids of some, with the instance before a slash. */
  some: readonly string[];
};

/** What others may know of a declared resource. */
export type DeclaredResource = {
  /** In snake_case. */
  name: string;
  /** What the public names of its events begin with. */
  prefix: string;
  /** Its events have texts of their own; those of others follow from their names. */
  ownTexts: boolean;
  /** Whose its objects are: of organizations, or of the instance. */
  owner: "org" | "instance";
  // oxlint-disable-next-line no-explicit-any -- the types of its state and events are its own.
  aggregate: Aggregate<any, any>;
};

/** Everything the application must know of a slice. */
export type Module = {
  /** The resources that the slice declares as a whole (`resourceModule`); their events and projections are among these. */
  resources?: readonly DeclaredResource[];
  events: AnyEvents[];
  projections: Projection[];
  /** Tables of short-lived state, which are no projection. */
  state?: AnyTable[];
  /** The refusal for each kind of uniqueness claim the slice takes. */
  claimErrors?: Record<string, () => DomainError>;
  /** What goes with objects of other slices, or follows from what happens to them, in the same unit. */
  reactions?: (parts: Pick<Deps, "db" | "events" | "secrets" | "newId">) => Reaction[];
  /** What holds after every unit, whoever writes it. */
  invariants?: (parts: Pick<Deps, "db">) => Invariant[];
  /** What `idsvc doctor` tells of the objects of the slice, over all instances; those that there are none of are left out. */
  concerns?: (parts: Pick<Deps, "db" | "events" | "now">) => Promise<Concern[]>;
  services?: (deps: Deps) => ServiceBinding[];
  /** What does the jobs that the slice enqueues. */
  jobs?: (deps: Deps) => JobHandlers;
  /** What removes that whose time is over. */
  sweeps?: (deps: Deps) => Sweep[];
  /** What removes the slice's objects of an organization that was deleted; every slice that has such objects needs it. */
  contents?: (deps: Deps) => RemoveContents;
  /** What the slice does by itself while the service runs, in one process or many; disposing stops it. */
  background?: (deps: Deps, onError: (error: unknown) => void) => AsyncDisposable;
};
