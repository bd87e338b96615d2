import type { Message } from "@bufbuild/protobuf";
import type { IDP, PatchIDP } from "#gen/idsvc/resources/idp/v3alpha/idp_pb.ts";
import type { IdentityProviderService } from "#gen/idsvc/resources/idp/v3alpha/identity_provider_service_pb.ts";
import { type Scope, writeContext } from "../../authz/context.ts";
import type { Handlers } from "../../authz/service.ts";
import type { OwnerRef } from "../../eventstore/event.ts";
import { requireSequence } from "../../eventstore/expected-sequence.ts";
import type { Written } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { toDetails } from "../object/details.ts";
import { answering } from "../object/plain.ts";
import { inheritedReadOnly, inherits } from "../object/reuse/context.ts";
import { fromStatePolicy } from "../object/reuse/convert.ts";
import { createReuse } from "../object/reuse/reuse.ts";
import { idpAdder, requireAllowed } from "./add-idp.ts";
import { type Answering, isAnsweredAnew, type LinkHolders } from "./answers.ts";
import { orderedConfig, patchedConfig } from "./config.ts";
import { toTypedIdp } from "./convert.ts";
import { idp, idpNotFound, type IdpState, patchIdp } from "./idp.ts";
import { givenMark } from "./mark.ts";
import { givenOptions, newOptions } from "./options.ts";
import { idpPolicies } from "./projection.ts";
import { type IdpType, idpTypes, type ProviderType, providerTypes } from "./provider-types.ts";
import { contextOf, type IdpRow, idpQueries, ownerIn, ownerOf } from "./queries.ts";
import { givenSecret, idpSecretRef } from "./secret.ts";

type Service = typeof IdentityProviderService;

// The requests of all types have one shape; only the message of the configuration differs.
type CreateRequest = { idp?: { idp?: IDP; config?: Message } };
type PatchRequest = { id: string; idp?: { idp?: PatchIDP; config?: Message } };
type Named = { id: string };

type HandlerDeps = Pick<
  Deps,
  "db" | "events" | "secrets" | "newId" | "checkUrl" | "limits" | "organizations" | "tenancy"
>;

/** Create, patch and get of every type: the same three for all of them. */
export function typedHandlers(deps: HandlerDeps, holders: LinkHolders): Handlers<Service> {
  const { tenancy } = deps;
  const answer = answering(deps);
  const queries = idpQueries(deps);
  const { patchOwn, patchInherited } = idpPatches(deps, holders, queries);
  const prepare = idpAdder(deps);
  // Each method gets the handler of its name; the requests of all types have the shapes above.
  return Object.assign({}, ...idpTypes.map(ofType)) as Handlers<Service>;

  function ofType(type: IdpType) {
    const definition: ProviderType = providerTypes[type];
    const { rpc } = definition;

    return {
      async [`create${rpc}IDP`]({ idp: wanted }: CreateRequest, scope: Scope) {
        const message = wanted?.config;
        if (message === undefined) throw new Error("validation requires the configuration");
        const add = prepare(type, {
          name: wanted?.idp?.name ?? "",
          statePolicy: fromStatePolicy(wanted?.idp?.statePolicy),
          options: newOptions(wanted?.idp?.options),
          mark: givenMark(wanted?.idp?.mark) ?? "",
          config: message,
        });
        return answer(writeContext(scope), async (tx) => {
          await tenancy.requireContext(tx, scope);
          const loaded = await add(tx, scope.instanceId, ownerIn(scope));
          return { written: tx.written(loaded) };
        });
      },

      async [`patch${rpc}IDP`]({ id, idp: patch = {} }: PatchRequest, scope: Scope) {
        const row = await rowOf(scope, id, type);
        const context = contextOf(scope, row);
        if (inherits(context, ownerOf(row))) {
          return { details: toDetails(await patchInherited(scope, row, context, patch)) };
        }
        return patchOwn(scope, type, id, patch);
      },

      async [`get${rpc}IDP`]({ id }: Named, scope: Scope) {
        const row = await rowOf(scope, id, type);
        return { idp: toTypedIdp(await queries.see(row, contextOf(scope, row))) };
      },
    };
  }

  async function rowOf({ instanceId }: Scope, id: string, type: IdpType): Promise<IdpRow> {
    const row = await queries.get(instanceId, id);
    if (row.type !== type) throw idpNotFound();
    return row;
  }
}

/** Changes of a provider in the context that it belongs to, and in one that inherits it. */
function idpPatches(
  deps: HandlerDeps,
  holders: LinkHolders,
  queries: ReturnType<typeof idpQueries>,
) {
  const { db, events, secrets, checkUrl, tenancy } = deps;
  const answer = answering(deps);
  const reuse = createReuse(db, idpPolicies);

  async function patchOwn(
    scope: Scope,
    type: IdpType,
    id: string,
    { idp: common, config }: NonNullable<PatchRequest["idp"]>,
  ) {
    const definition: ProviderType = providerTypes[type];
    if (config !== undefined) requireAllowed(checkUrl, definition, config);
    const secret = givenSecret(type, config);
    return answer(writeContext(scope), async (tx) => {
      const loaded = await tx.load(idp, id);
      const { state } = loaded;
      if (secret !== undefined) {
        tx.write(await secrets.put(idpSecretRef(scope.instanceId, id), secret, tx.now));
      }
      const policy = common?.statePolicy;
      const changed = patchIdp(state, {
        name: common?.name,
        statePolicy: policy === undefined ? undefined : fromStatePolicy(policy),
        options: common?.options && givenOptions(common.options),
        mark: givenMark(common?.mark),
        config: config && ((before) => patchedConfig(definition, before, config)),
        secretChanged: secret !== undefined,
      });
      tx.record(idp, loaded, changed);
      const isElse = isAnsweredAnew(answersOf(type, state), answersOf(type, loaded.state));
      const at = { instanceId: scope.instanceId, idpId: id };
      const suspendedLinks = isElse ? await holders.suspend(tx, at, scope.permissions) : 0;
      return { written: tx.written(loaded), suspendedLinks };
    });
  }

  async function patchInherited(
    scope: Scope,
    row: IdpRow,
    context: OwnerRef,
    { idp: common, config }: NonNullable<PatchRequest["idp"]>,
  ): Promise<Written> {
    if (config !== undefined) throw inheritedReadOnly("idp.config");
    if (common?.name !== undefined) throw inheritedReadOnly("idp.idp.name");
    if (common?.options !== undefined) throw inheritedReadOnly("idp.idp.options");
    if (common?.mark !== undefined) throw inheritedReadOnly("idp.idp.mark");
    const policy = common?.statePolicy;
    if (policy === undefined) {
      const { seen } = await queries.see(row, context);
      requireSequence(scope, seen.sequence);
      return seen;
    }
    const written = await events.transact(writeContext(scope), async (tx) => {
      await tenancy.requireContext(tx, scope);
      const loaded = await tx.load(idp, row.id);
      const { state, last } = loaded;
      if (state === undefined || last === undefined) throw idpNotFound();
      const { sequence, createdAt: changeDate, owner } = last;
      const resource = { id: row.id, sequence, changeDate, owner };
      return reuse.setPolicy(tx, resource, context, fromStatePolicy(policy));
    });
    return written();
  }

  return { patchOwn, patchInherited };
}

const answersOf = (type: IdpType, state: IdpState | undefined): Answering => ({
  config: orderedConfig(type, state?.config ?? {}),
  options: state?.options ?? {},
});
