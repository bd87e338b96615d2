import { type OidcPeer, startOidc } from "../support/oidc.ts";
import { browserTargets } from "./browser.ts";
import { held } from "./held.ts";
import { httpFrames } from "./http.ts";
import { jwts } from "./jwts.ts";
import { know } from "./messages.ts";
import { keepSecret } from "./oracle.ts";
import { protocolsAgree } from "./protocols.ts";
import { raceTarget } from "./races.ts";
import { rpcTargets } from "./rpc.ts";
import { sql } from "./sql.ts";
import type { Target } from "./target.ts";
import { tenants } from "./tenants.ts";
import { textTargets } from "./texts.ts";

/** The service that is tried, with all that it can do, and what messages may name by its id. */
export async function startTried(): Promise<OidcPeer> {
  const peer = await startOidc({ env: { IDSVC_FEATURE_OIDC_TOKEN_EXCHANGE: "true" } });
  const organizationId = await peer.addOrganization();
  const userId = await peer.addPerson({}, organizationId);
  const { id: machineId, clientId: machineClient, secret: machineSecret } = await peer.addMachine();
  const { appId, projectId, clientId, secret } = await peer.addClient();
  know([organizationId, userId, machineId, machineClient, appId, projectId, clientId]);
  keepSecret(peer.app.token, machineSecret, secret);
  return peer;
}

export const targets: readonly Target[] = [
  ...rpcTargets,
  ...browserTargets,
  ...textTargets,
  tenants,
  jwts,
  held,
  protocolsAgree,
  sql,
  raceTarget,
  httpFrames,
];
