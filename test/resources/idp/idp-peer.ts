import type { JsonObject } from "@bufbuild/protobuf";
import { depsTold } from "../../support/deps.ts";
import { bodyOf, startPeer, uniqueName } from "../../support/peer.ts";
import type { TestOptions } from "../../support/app.ts";

/** The configuration of a provider of the type forge_b. */
export const forgeB = { client_id: "idsvc", client_secret: "a secret" };

/** The query that names an organization, or the instance itself. */
export const inContext = (organizationId?: string) =>
  organizationId === undefined ? "" : `?ctx.org_id=${organizationId}`;

/** A running service, and what one does with its providers of the type forge_b. */
export async function startIdpPeer(options: TestOptions = {}) {
  const told = depsTold();
  const service = await startPeer({ ...options, moreModules: [told.module] });
  const { app, post, get, patch } = service;
  const instanceId = app.made.instance_id;

  return Object.assign(service, {
    deps: told.deps(),
    instanceId,
    /** The instance as an owner. */
    instance: { type: "OWNER_TYPE_INSTANCE", id: instanceId },
    /** Creates a provider, of the instance unless told otherwise, and gives its id. */
    async addIdp(organizationId?: string, idp: JsonObject = {}, config: JsonObject = forgeB) {
      const body = { idp: { name: uniqueName("idp"), ...idp }, config };
      const answer = await post(`/idps/forge_b${inContext(organizationId)}`, body);
      return String(bodyOf(answer, 201).details.id);
    },
    setPolicy: (id: string, policy: string, organizationId?: string) =>
      patch(`/idps/forge_b/${id}${inContext(organizationId)}`, {
        idp: { state_policy: `STATE_POLICY_${policy}` },
      }),
    idpOf: async (id: string, organizationId?: string) =>
      bodyOf(await get(`/idps/forge_b/${id}${inContext(organizationId)}`)).idp,
    search: async (filters: JsonObject[] = [], query = "", token = app.token) =>
      bodyOf(await post(`/idps/_search${query}`, filters, { token })),
    setFeature: async (set: boolean) => {
      const settings = { multitenancy_resources_api: { set } };
      const place = "/settings/v3alpha/features";
      bodyOf(await service.peer.rest("PATCH", place, settings, { token: app.token }));
    },
  });
}

export type IdpPeer = Awaited<ReturnType<typeof startIdpPeer>>;

/** The ids of what a search found. */
export const idsOf = (found: { result: { details: { id: string } }[] }) =>
  found.result.map(({ details }) => details.id);
