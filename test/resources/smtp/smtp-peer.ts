import type { JsonObject } from "@bufbuild/protobuf";
import { mailProviderOf } from "../../../src/resources/smtp/index.ts";
import type { TestOptions } from "../../support/app.ts";
import { depsTold } from "../../support/deps.ts";
import { bodyOf, startPeer, uniqueName } from "../../support/peer.ts";
import { systemCaller } from "../../support/system-caller.ts";

/** A mail server that asks who one is. */
export const server = {
  sender_address: "idsvc@example.com",
  sender_name: "Example",
  host: "mail.example.com:587",
  tls: true,
  user: "idsvc",
  password: "a secret",
};

/** The query that names the system. */
export const inSystem = "?ctx.system=true";

/** A running service, a system caller, and what one does with providers of mails. */
export async function startSmtpPeer(options: TestOptions = {}) {
  const told = depsTold();
  const operator = systemCaller();
  const service = await startPeer({
    ...options,
    env: { ...operator.env, ...options.env },
    moreModules: [told.module],
  });
  const { app, get, post } = service;
  const system = { token: await operator.tokenFor(app.made.issuer) };
  const deps = told.deps();
  const instanceId = app.made.instance_id;
  const sends = mailProviderOf(deps);
  const create = (provider: JsonObject, query = "") =>
    post(`/smtp_providers${query}`, provider, query === "" ? { token: app.token } : system);

  return Object.assign(service, {
    deps,
    instanceId,
    instance: { type: "OWNER_TYPE_INSTANCE", id: instanceId },
    /** How the system caller calls. */
    system,
    create,
    /** Creates a provider, of the instance unless the query says otherwise, and gives its id. */
    async add(more: JsonObject = {}, query = "") {
      const provider = { ...server, description: uniqueName("mail"), ...more };
      return String(bodyOf(await create(provider, query), 201).details.id);
    },
    read: async (id: string) => bodyOf(await get(`/smtp_providers/${id}`)).smtp_provider,
    readInSystem: async (id: string) =>
      bodyOf(await get(`/smtp_providers/${id}${inSystem}`, system)).smtp_provider,
    turn: (id: string, action: string, query = "") =>
      post(
        `/smtp_providers/${id}/_${action}${query}`,
        undefined,
        query === "" ? { token: app.token } : system,
      ),
    /** The id of the provider that sends for the instance. */
    inForce: async () => (await sends(instanceId))?.id,
    provider: () => sends(instanceId),
    /** Deletes every provider. */
    async clear() {
      for (const [query, options_] of [
        ["", { token: app.token }],
        [inSystem, system],
      ] as const) {
        const { result } = bodyOf(await post(`/smtp_providers/_search${query}`, [], options_));
        for (const { details, parent } of result) {
          if (parent !== undefined) continue;
          bodyOf(await service.remove(`/smtp_providers/${details.id}${query}`, options_));
        }
      }
    },
  });
}

export type SmtpPeer = Awaited<ReturnType<typeof startSmtpPeer>>;
