import type { OidcPeer } from "../support/oidc.ts";
import { browserTargets } from "./browser.ts";
import { know } from "./messages.ts";
import { rpcTargets } from "./rpc.ts";
import type { Target } from "./target.ts";
import { tenants } from "./tenants.ts";
import { textTargets } from "./texts.ts";

/** Makes what messages may name by its id. */
export async function populate(peer: OidcPeer): Promise<void> {
  const organizationId = await peer.addOrganization();
  const userId = await peer.addPerson({}, organizationId);
  const { id: machineId, clientId: machineClient } = await peer.addMachine();
  const { appId, projectId, clientId } = await peer.addClient();
  know([organizationId, userId, machineId, machineClient, appId, projectId, clientId]);
}

export const targets: readonly Target[] = [
  ...rpcTargets,
  ...browserTargets,
  ...textTargets,
  tenants,
];
