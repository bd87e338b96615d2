import { readUserCode, shownUserCode } from "./device-authorization.ts";
import { targetsOf } from "./audience.ts";
import type { DeviceRequest } from "./device-ports.ts";
import type { At, BrowserSession, Ports } from "./ports.ts";

/** Requests of devices, for the page on which somebody lets them in (RFC 8628 section 3.3). */
export type DeviceApproval = {
  /** The request that waits under a code as it was typed. */
  find(at: At, typed: string): Promise<DeviceRequest | undefined>;
  /** The request as long as it waits, and the code as it is shown. */
  waiting(
    at: At,
    requestId: string,
  ): Promise<{ request: DeviceRequest; userCode: string } | undefined>;
  /** Lets the device in with what it asked for. False when it has expired, was decided, or the user may not. */
  approve(at: At, request: DeviceRequest, session: BrowserSession): Promise<boolean>;
  deny(at: At, request: DeviceRequest): Promise<boolean>;
};

export function deviceApproval(
  ports: Pick<Ports, "devices" | "clients" | "consents" | "users" | "settings">,
): DeviceApproval {
  const { devices, clients, users } = ports;
  return {
    async find(at, typed) {
      const letters = readUserCode(typed);
      if (letters === undefined) return undefined;
      const request = await devices.byUserCode(at, letters);
      const client = request && (await clients.byId(at, request.clientId));
      return client && request;
    },

    async waiting(at, requestId) {
      const found = await devices.waiting(at, requestId);
      const client = found && (await clients.byId(at, found.request.clientId));
      return client && { request: found.request, userCode: shownUserCode(found.userCode) };
    },

    async approve(at, request, { id: sessionId, user, authTime, amr, levels }) {
      const { clientId } = request;
      const client = await clients.byId(at, clientId);
      if (client === undefined) return false;
      if (!(await users.mayUse(at, user, client.projectId))) return false;
      const power = await ports.consents.apiPower(at, user, client);
      const asked = { scope: request.scope, access: power };
      return devices.approve(at, request.id, {
        ...(await targetsOf(ports, at, client, user, asked)),
        clientId,
        sessionId,
        authTime,
        amr,
        acr: levels[0],
        userId: user.id,
        organizationId: user.organizationId,
        nonce: undefined,
        claims: undefined,
        actor: undefined,
        parents: [],
      });
    },

    deny: (at, { id }) => devices.deny(at, id),
  };
}
