import type { AppReader } from "../authz/apps.ts";
import type { ProjectGrants, UserGrants } from "../authz/grants.ts";
import type { MembershipReader, OrganizationReader } from "../authz/ports.ts";
import type { Policies } from "../authz/policies.ts";
import type { ServiceBinding } from "../authz/service.ts";
import type { Tenancy } from "../authz/tenancy.ts";
import type { Awaitable } from "../awaitable.ts";
import type { DomainError } from "../errors.ts";
import type { Aggregate } from "../eventstore/aggregate.ts";
import type { AnyEvents } from "../eventstore/event.ts";
import type { EventStore } from "../eventstore/eventstore.ts";
import type { SecretStore } from "../eventstore/secret-store.ts";
import type { Invariant, Reaction } from "../eventstore/settle.ts";
import type { Transaction, WriteContext } from "../eventstore/transaction.ts";
import type { JobHandlers } from "../jobs/job.ts";
import type { Sweep } from "../jobs/sweeper.ts";
import type { Database } from "../storage/database.ts";
import type { AnyTable } from "../storage/table.ts";
import type { Projection } from "./projection.ts";

/** What every slice may use. What few of them need is a port that they declare, which the service hands in beside these. */
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
  /** What users log in to. */
  apps: AppReader;
  /** Which projects are granted to which organizations. */
  projectGrants: ProjectGrants;
  /** Which roles in projects users were granted. */
  userGrants: UserGrants;
  /** What is in force of settings that many slices ask for. */
  policies: Policies;
  newId: () => string;
  now: () => Date;
  limits: {
    listDefault: number;
    listMax: number;
    historyDefault: number;
    historyMax: number;
  };
  /** Refuses addresses that the service must not call (X13), naming the field that holds the url. */
  checkUrl: (url: string, field: string) => void;
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

/** An instance that is being made. */
export type NewInstance = {
  id: string;
  defaultLanguage: string;
  /** Nobody else can reach it: all its domains are of loopback. */
  isLocal: boolean;
};

/** Sets what a new instance begins with, in the unit that makes it. */
export type Begin = (tx: Transaction, made: NewInstance) => void | Promise<void>;

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

/**
 * Everything the application must know of a slice.
 *
 * @typeParam D what it asks of the service: what all slices may use, and its own ports
 */
export type Module<D extends Deps = Deps> = {
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
  concerns?: (parts: Pick<Deps, "db" | "events" | "policies" | "now">) => Promise<Concern[]>;
  /** What every new instance has of the slice from its first moment; called before the unit that makes the instance. */
  begins?: (parts: Pick<Deps, "newId" | "secrets">) => Awaitable<Begin>;
  services?: (deps: D) => ServiceBinding[];
  /** What does the jobs that the slice enqueues. */
  jobs?: (deps: D) => JobHandlers;
  /** What removes that whose time is over. */
  sweeps?: (deps: D) => Sweep[];
  /** What removes the slice's objects of an organization that was deleted; every slice that has such objects needs it. */
  contents?: (deps: D) => RemoveContents;
  /** What the slice does by itself while the service runs, in one process or many; disposing stops it. */
  background?: (deps: D, onError: (error: unknown) => void) => AsyncDisposable;
};
