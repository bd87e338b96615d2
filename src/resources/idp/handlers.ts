import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { IdentityProviderService } from "#gen/idsvc/resources/idp/v3alpha/identity_provider_service_pb.ts";
import { type Scope, writeContext } from "../../authz/context.ts";
import { type Authorize, authorizeById, type Handlers } from "../../authz/service.ts";
import type { Deps } from "../../projection/module.ts";
import { toListDetails } from "../object/details.ts";
import { toState } from "../object/filters.ts";
import { toPage } from "../object/list.ts";
import { answering } from "../object/plain.ts";
import { listing } from "../object/queries.ts";
import {
  inheritedNotDeletable,
  inheritedReadOnly,
  inherits,
  requireIn,
} from "../object/reuse/context.ts";
import { fromStatePolicy } from "../object/reuse/convert.ts";
import { effectiveState, type StatePolicy } from "../object/reuse/state.ts";
import type { LinkHolders } from "./answers.ts";
import { toGetIdp } from "./convert.ts";
import { idp, idpNotFound } from "./idp.ts";
import { type Affected, previewPolicy } from "./preview.ts";
import { idpTypes, providerTypes } from "./provider-types.ts";
import { contextOf, type IdpRow, idpQueries, ownerOf } from "./queries.ts";
import { removeIdpWith } from "./remove-idp.ts";
import { statePolicySearch } from "./state-policies.ts";
import { typedHandlers } from "./typed-handlers.ts";

type Service = typeof IdentityProviderService;

export function idpAuthorize(deps: Deps): Authorize<Service> {
  const queries = idpQueries(deps);
  const onContext = deps.tenancy.requireOnContext;
  const creates = idpTypes.map((type) => [`create${providerTypes[type].rpc}IDP`, onContext]);
  return {
    ...(Object.fromEntries(creates) as Authorize<Service>),
    ...authorizeById(IdentityProviderService, async ({ id }, scope) => {
      const row = await queries.get(scope.instanceId, id);
      if (!(await isLiving(scope, row))) throw idpNotFound();
      requireIn(scope, contextOf(scope, row), idpNotFound);
    }),
  };

  async function isLiving({ instanceId }: Scope, { organizationId }: IdpRow): Promise<boolean> {
    if (organizationId === "") return true;
    return (await deps.organizations.byId(instanceId, organizationId)) !== undefined;
  }
}

export function idpHandlers(
  deps: Deps,
  affected: Affected,
  holders: LinkHolders,
): Handlers<Service> {
  const { db } = deps;
  const answer = answering(deps);
  const queries = idpQueries(deps);
  const remove = removeIdpWith(deps);
  const decided = statePolicySearch(deps);

  return {
    ...typedHandlers(deps, holders),

    async confirmIDP({ id }, scope) {
      const row = await queries.get(scope.instanceId, id);
      if (inherits(contextOf(scope, row), ownerOf(row))) throw inheritedReadOnly("id");
      const at = { instanceId: scope.instanceId, idpId: id };
      return answer(writeContext(scope), async (tx) => {
        const loaded = await tx.load(idp, id);
        if (loaded.state === undefined) throw idpNotFound();
        const written = tx.written(loaded);
        const { confirmed, suspended } = await holders.confirm(tx, at, scope.permissions);
        return { written, confirmedLinks: confirmed, suspendedLinks: suspended };
      });
    },

    async deleteIDP({ id }, scope) {
      const row = await queries.get(scope.instanceId, id);
      if (inherits(contextOf(scope, row), ownerOf(row))) throw inheritedNotDeletable();
      return answer(writeContext(scope), async (tx) => ({ written: await remove(tx, id) }));
    },

    searchIDPs: listing(queries.search, toGetIdp),

    async listIDPStatePolicies({ id, query }, { instanceId }) {
      const found = await decided(instanceId, id, toPage(query));
      const result = found.rows.map(({ contextId, policy, changeDate }) => ({
        organizationId: contextId,
        state: toState(effectiveState([policy as StatePolicy])),
        changeDate: timestampFromDate(changeDate),
      }));
      return { details: toListDetails(found), result };
    },

    async previewIDPStatePolicy({ id, preview }, scope) {
      const row = await queries.get(scope.instanceId, id);
      const context = contextOf(scope, row);
      const { seen } = await queries.see(row, context);
      const policy = fromStatePolicy(preview?.statePolicy);
      return previewPolicy(db, affected, { row, context, seen, policy });
    },
  };
}
