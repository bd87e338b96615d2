import { OrganizationService } from "#gen/idsvc/resources/org/v3alpha/organization_service_pb.ts";
import { instanceOwner, type Scope, writeContext } from "../../authz/context.ts";
import { type Authorize, authorizeById, type Handlers } from "../../authz/service.ts";
import { decideOn, type Transaction } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { instance, setDefaultOrganization } from "../instance/index.ts";
import { toDetails } from "../object/details.ts";
import { answering, changing, plainHandlers, toMessage } from "../object/plain.ts";
import { organizationCreator } from "./create-organization.ts";
import { removeContentsLater } from "./contents.ts";
import { deactivateOrganization, removeOrganization } from "./org.ts";
import { organization, organizationNotFound, organizationResource } from "./organization.ts";
import { organizationQueries } from "./queries.ts";

type Service = typeof OrganizationService;

export const organizationAuthorize = ({ tenancy }: Deps): Authorize<Service> => {
  const { setAsInstanceDefault: _, ...named } = authorizeById(
    OrganizationService,
    ({ id }, scope) => tenancy.require(scope, { organizationId: id }, organizationNotFound),
  );
  return named;
};

export function organizationHandlers(deps: Deps): Handlers<Service> {
  const { events, newId, tenancy } = deps;
  const queries = organizationQueries(deps);
  const change = changing(deps, organization);
  const answer = answering(deps);
  const create = organizationCreator(deps);
  const fieldsOf = (row: object) => {
    const { name, primaryDomain: domain } = organizationResource.fieldsOf(row);
    return { name, domain };
  };
  const toResult = toMessage({ ...organizationResource, fieldsOf });

  return {
    ...plainHandlers(deps, OrganizationService, organizationResource, {
      methods: [
        ...(["patchOrganization", "activateOrganization"] as const),
        ...(["getOrganization", "searchOrganizations"] as const),
      ],
      queries,
      fieldsOf,
    }),

    async createOrganization({ organization: wanted }, scope) {
      if (wanted === undefined) throw new Error("validation requires the organization");
      return answer(writeContext(scope), async (tx) => {
        const { name, domain } = wanted;
        const loaded = await create(tx, scope.instanceId, {
          name,
          domain: domain === undefined ? undefined : { name: domain, field: "organization.domain" },
        });
        return { written: tx.written(loaded) };
      });
    },

    deactivateOrganization: ({ id }, scope) =>
      change(scope, id, async (state, tx) =>
        deactivateOrganization(state, await isDefault(tx, scope, id)),
      ),

    deleteOrganization: ({ id }, scope) =>
      change(scope, id, async (state, tx) => {
        const removed = removeOrganization(state, await isDefault(tx, scope, id));
        removeContentsLater(tx, newId, id);
        return removed;
      }),

    async setAsInstanceDefault({ id }, scope) {
      const written = await events.transact(writeContext(scope), async (tx) => {
        const state = organizationResource.require((await tx.load(organization, id)).state);
        const isActive = state.state === "active";
        const changed = await decideOn(tx, instance, scope.instanceId, (own) =>
          setDefaultOrganization(own, { id, isActive }),
        );
        return tx.written(changed);
      });
      return { details: toDetails({ ...written(), id, owner: instanceOwner(scope) }) };
    },

    async getInstanceDefault(_, scope) {
      const { state } = await events.load(instance, scope.instanceId, scope.instanceId);
      const id = state?.defaultOrganizationId ?? "";
      await tenancy.require(scope, { organizationId: id }, organizationNotFound);
      return { organization: toResult(await queries.get(scope.instanceId, id)) };
    },
  };

  async function isDefault(tx: Transaction, { instanceId }: Scope, id: string): Promise<boolean> {
    return (await tx.load(instance, instanceId)).state?.defaultOrganizationId === id;
  }
}
