import type { DescService } from "@bufbuild/protobuf";
import { type Scope, writeContext } from "../../authz/context.ts";
import { cachedResponse } from "../../authz/response-cache.ts";
import { type Authorize, authorizeById, type Handlers } from "../../authz/service.ts";
import { mayOn, organizationOf, type Owned } from "../../authz/tenancy.ts";
import { permissionMissing } from "../../authz/permissions.ts";
import type { Awaitable } from "../../awaitable.ts";
import type { DomainError } from "../../errors.ts";
import type { Aggregate } from "../../eventstore/aggregate.ts";
import type { NewEvent, OwnerRef } from "../../eventstore/event.ts";
import {
  decideOn,
  type Transaction,
  type WriteContext,
  type Written,
} from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import type { Found } from "../../projection/search.ts";
import { toDetails } from "./details.ts";
import { toState } from "./filters.ts";
import { camelCase, listing } from "./queries.ts";
import type { AnyResource } from "./resource.ts";

/** A row with what every object has. */
type PlainRow = { instanceId: string; id: string; sequence: bigint; changeDate: Date };
type ByName = Readonly<Record<string, unknown>>;

/** Where an object is made: who owns it, and what must still be there when the unit commits. */
type MakeIn = (tx: Transaction, scope: Scope, wanted: ByName) => Promise<OwnerRef>;

/** The message of an object from its row: its details, its state and its fields, under the names of the schema. */
export const toMessage =
  (resource: Pick<AnyResource, "name" | "owner" | "fieldsOf">) => (row: PlainRow) => {
    const organizationId = Reflect.get(row, "organizationId") as string;
    const owner: OwnerRef =
      resource.owner === "org"
        ? { type: "org", id: organizationId }
        : { type: "instance", id: row.instanceId };
    const state = Reflect.get(row, "state") as string | undefined;
    return {
      details: toDetails({ ...row, owner }),
      ...(state === undefined ? {} : { state: toState(state) }),
      [camelCase(resource.name)]: resource.fieldsOf(row),
    };
  };

/** Decides as one unit, and answers with the details of what it wrote and with what the decision gives beside. */
export const answering =
  ({ events }: Pick<Deps, "events">) =>
  async <A extends { written: () => Written }>(
    at: WriteContext,
    decide: (tx: Transaction) => Promise<A>,
  ) => {
    const { written, ...beside } = await events.transact(at, decide);
    return { details: toDetails(written()), ...beside };
  };

/** Decides over the object that a call names, and answers with its details. */
export const changing =
  <S, E extends NewEvent>(deps: Pick<Deps, "events">, aggregate: Aggregate<S, E>) =>
  (scope: Scope, id: string, decide: (state: S, tx: Transaction) => Awaitable<E[]>) =>
    answering(deps)(writeContext(scope), async (tx) => ({
      written: tx.written(await decideOn(tx, aggregate, id, decide)),
    }));

/**
 * The handlers of a service that need nothing but the declaration of its resource: those of create, patch, get and search, of
 * delete, and of deactivate and activate where it has states. Requests name the object as the resource does, and fields of its
 * message have the names of the fields of the resource. What a slice does otherwise it puts beside them.
 *
 * @throws Error at the start, where the service has no such method
 */
export function plainHandlers<S extends DescService, K extends keyof S["method"]>(
  deps: Pick<Deps, "events" | "newId">,
  service: S,
  resource: AnyResource,
  parts: {
    methods: readonly K[];
    /** For get and search. */
    queries?: {
      get(instanceId: string, id: string): Promise<PlainRow>;
      search(scope: Scope, request: never): Promise<Found<PlainRow>>;
    };
    /** For create. */
    makeIn?: MakeIn;
    /** What the message of an object says of its row; without it, what the fields do. */
    fieldsOf?: (row: PlainRow) => object;
  },
): Pick<Handlers<S>, K> {
  const { aggregate } = resource;
  const answer = answering(deps);
  const name = camelCase(resource.name);
  const { queries, makeIn, fieldsOf = resource.fieldsOf } = parts;
  const toResult = toMessage({ ...resource, fieldsOf });
  const responseOf = cachedResponse((row: PlainRow) => ({ [name]: toResult(row) }));
  const decide = changing(deps, aggregate);
  const change =
    (decision: (state: unknown, wanted: ByName) => NewEvent[]) =>
    (request: { id: string }, scope: Scope) =>
      decide(scope, request.id, (state) =>
        decision(state, (Reflect.get(request, name) ?? {}) as ByName),
      );

  const byVerb: Readonly<Record<string, unknown>> = {
    create:
      makeIn &&
      (async (request: ByName, scope: Scope) => {
        const wanted = request[name] as ByName | undefined;
        if (wanted === undefined) throw new Error(`validation requires the ${name}`);
        return answer(writeContext(scope), async (tx) => {
          const owner = await makeIn(tx, scope, wanted);
          const loaded = tx.begin(aggregate, deps.newId());
          tx.record(aggregate, loaded, resource.add(loaded.state, resource.pick(wanted)), owner);
          return { written: tx.written(loaded) };
        });
      }),
    patch: change((state, wanted) => resource.patch(state, resource.pick(wanted))),
    deactivate: change((state) => resource.deactivate(state)),
    activate: change((state) => resource.activate(state)),
    delete: change((state) => resource.remove(state)),
    get:
      queries &&
      (async ({ id }: { id: string }, { instanceId }: Scope) =>
        responseOf(await queries.get(instanceId, id))),
    search: queries && listing(queries.search, toResult),
  };
  const handlers = parts.methods.map((method) => {
    const [, verb = ""] = /^([a-z]+)/.exec(String(method)) ?? [];
    const handler = byVerb[verb];
    if (handler === undefined || !service.methods.some(({ localName }) => localName === method)) {
      throw new Error(`${service.typeName} has no plain method ${String(method)}`);
    }
    return [method, handler];
  });
  // Each method gets the handler of its verb; the tests of the slice show that the messages have the fields.
  return Object.fromEntries(handlers) as Pick<Handlers<S>, K>;
}

/** The check of a method that names an object of an organization: who may do it where the object is. */
export const whereItIs =
  (
    { tenancy }: Pick<Deps, "tenancy">,
    find: (instanceId: string, id: string) => Awaitable<Owned | undefined>,
    missing: () => DomainError,
  ) =>
  async ({ id }: { id: string }, scope: Scope): Promise<void> =>
    tenancy.require(scope, await find(scope.instanceId, id), missing);

/**
 * Who may do what to objects that organizations own, by the permissions of the methods: create where the call says, all else where
 * the object is.
 */
export function plainAuthorize<S extends DescService>(
  { tenancy }: Pick<Deps, "tenancy">,
  service: S,
  find: (instanceId: string, id: string) => Awaitable<{ organizationId: string } | undefined>,
  missing: () => DomainError,
): Authorize<S> {
  const create = service.methods.find(({ localName }) => localName.startsWith("create"));
  const inContext = async (_: unknown, scope: Scope) => {
    const { act } = scope.policy;
    if (!mayOn(scope, act, { organizationId: organizationOf(scope) })) throw permissionMissing(act);
  };
  const byId = authorizeById(service, whereItIs({ tenancy }, find, missing));
  return { ...byId, ...(create && { [create.localName]: inContext }) };
}

/** Objects are made in the organization of the call, which must still be there when the unit commits. */
export const inOrganization =
  ({ tenancy }: Pick<Deps, "tenancy">): MakeIn =>
  async (tx, scope) => {
    const id = organizationOf(scope);
    await tenancy.requireOrganization(tx, id);
    return { type: "org", id };
  };
