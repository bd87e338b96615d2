import type { MessageInitShape } from "@bufbuild/protobuf";
import type { OrganizationService } from "#gen/idsvc/resources/org/v3alpha/organization_service_pb.ts";
import type { GetOrganizationSchema } from "#gen/idsvc/resources/org/v3alpha/organization_pb.ts";
import { instanceOwner, type Scope, writeContext } from "../../authz/context.ts";
import { cachedResponse } from "../../authz/response-cache.ts";
import type { Authorize, Handlers } from "../../authz/service.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import { execute } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { instance, setDefaultOrganization } from "../instance/index.ts";
import { listing } from "../object/queries.ts";
import { toDetails, toInstanceOwnedDetails } from "../object/details.ts";
import { toState } from "../object/filters.ts";
import { organizationCreator } from "./create-organization.ts";
import { removeContentsLater } from "./contents.ts";
import type { OrganizationEvent } from "./events.ts";
import {
  activateOrganization,
  deactivateOrganization,
  organization,
  organizationNotFound,
  patchOrganization,
  removeOrganization,
} from "./org.ts";
import { type OrganizationRow, organizationQueries } from "./queries.ts";

type Service = typeof OrganizationService;

export function organizationAuthorize(deps: Deps): Authorize<Service> {
  const { tenancy } = deps;
  const named = ({ id }: { id: string }, scope: Scope) =>
    tenancy.require(scope, { organizationId: id }, organizationNotFound);
  return {
    patchOrganization: named,
    deactivateOrganization: named,
    activateOrganization: named,
    deleteOrganization: named,
    getOrganization: named,
  };
}

export function organizationHandlers(deps: Deps): Handlers<Service> {
  const { events, newId } = deps;
  const { tenancy } = deps;
  const queries = organizationQueries(deps);
  const responseOf = cachedResponse((row: OrganizationRow) => ({
    organization: toGetOrganization(row),
  }));
  const create = organizationCreator(deps);

  return {
    async createOrganization({ organization: wanted }, scope) {
      if (wanted === undefined) throw new Error("validation requires the organization");
      const written = await events.transact(writeContext(scope), async (tx) => {
        const { name, domain } = wanted;
        const loaded = await create(tx, scope.instanceId, {
          name,
          domain: domain === undefined ? undefined : { name: domain, field: "organization.domain" },
        });
        return tx.written(loaded);
      });
      return { details: toDetails(written()) };
    },

    async patchOrganization({ id, organization: patch }, scope) {
      const written = await execute(
        events.transact,
        writeContext(scope),
        organization,
        { id },
        (state) => patchOrganization(state, patch?.name === undefined ? {} : { name: patch.name }),
      );
      return { details: toDetails(written) };
    },

    async deactivateOrganization({ id }, scope) {
      return change(scope, id, async (state, tx) =>
        deactivateOrganization(state, await isDefault(tx, scope, id)),
      );
    },

    async activateOrganization({ id }, scope) {
      return change(scope, id, activateOrganization);
    },

    async deleteOrganization({ id }, scope) {
      return change(scope, id, async (state, tx) => {
        const removed = removeOrganization(state, await isDefault(tx, scope, id));
        removeContentsLater(tx, newId, writeContext(scope), id);
        return removed;
      });
    },

    async getOrganization({ id }, { instanceId }) {
      return responseOf(await queries.get(instanceId, id));
    },

    searchOrganizations: listing(queries.search, toGetOrganization),

    async setAsInstanceDefault({ id }, scope) {
      const written = await events.transact(writeContext(scope), async (tx) => {
        const { state } = await tx.load(organization, id);
        if (state === undefined) throw organizationNotFound();
        const loaded = await tx.load(instance, scope.instanceId);
        const isActive = state.state === "active";
        tx.record(instance, loaded, setDefaultOrganization(loaded.state, { id, isActive }));
        return tx.written(loaded);
      });
      return { details: toDetails({ ...written(), id, owner: instanceOwner(scope) }) };
    },

    async getInstanceDefault(_, scope) {
      const { state } = await events.load(instance, scope.instanceId, scope.instanceId);
      const id = state?.defaultOrganizationId ?? "";
      await tenancy.require(scope, { organizationId: id }, organizationNotFound);
      return { organization: toGetOrganization(await queries.get(scope.instanceId, id)) };
    },
  };

  async function change(
    scope: Scope,
    id: string,
    decide: Parameters<typeof execute<typeof organization.initial, OrganizationEvent>>[4],
  ) {
    const written = await execute(
      events.transact,
      writeContext(scope),
      organization,
      { id },
      decide,
    );
    return { details: toDetails(written) };
  }

  async function isDefault(tx: Transaction, { instanceId }: Scope, id: string): Promise<boolean> {
    return (await tx.load(instance, instanceId)).state?.defaultOrganizationId === id;
  }
}

const toGetOrganization = (
  row: OrganizationRow,
): MessageInitShape<typeof GetOrganizationSchema> => ({
  details: toInstanceOwnedDetails(row),
  state: toState(row.state),
  organization: { name: row.name, domain: row.primaryDomain },
});
