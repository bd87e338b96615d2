import type { Endpoint } from "../endpoint.ts";
import { readFormBody } from "../form.ts";
import { type OidcRequest, redirect, targetOf } from "../http.ts";
import type { Ports } from "../ports.ts";
import { answering } from "./answering.ts";
import { type Authorize, gone, proceeding } from "./proceed.ts";
import { refuse } from "./refusal.ts";
import { readAuthorizationRequest } from "./request.ts";

export const authorizePath = "/oauth/v2/authorize";
export const callbackPath = "/oauth/v2/authorize/callback";

/**
 * The authorization endpoint (specification 4.3.1; OpenID Connect Core 1.0 sections 3.1.2 and 3.2.2), and where the login
 * comes back to it.
 */
export function authorizeEndpoints(ports: Ports, authorize: Authorize): Endpoint[] {
  const { clients, interactions } = ports;
  const { proceed, finish } = proceeding(ports, authorize);

  return [
    {
      metadata: "authorization_endpoint",
      path: authorizePath,
      methods: ["GET", "POST"],
      budget: "flows",
      caller: "browser",
      crossOrigin: "none",
      isChange: true,
      handle: (http, at) =>
        answering(interactions, at, http, async (toClient, note) => {
          const encoded = await readRequest(http);
          const asked = await readAuthorizationRequest(ports, at, encoded, toClient, note);
          if (http.method !== "POST") return proceed(at, http, { ...asked, keptAs: undefined });
          // Cookies do not come with a post from another site; with our own redirect they do.
          const id = await interactions.keep(at, asked.request);
          return redirect(`${callbackPath}?id=${encodeURIComponent(id)}`);
        }),
    },
    {
      metadata: "",
      path: callbackPath,
      methods: ["GET"],
      caller: "browser",
      crossOrigin: "none",
      isChange: true,
      handle: (http, at) =>
        answering(interactions, at, http, async (toClient) => {
          const id = new URLSearchParams(targetOf(http).query).get("id") ?? "";
          const cookies = http.headers.get("cookie") ?? "";
          const pending = await interactions.load(at, id, cookies);
          const client = pending && (await clients.byId(at, pending.request.clientId));
          if (pending === undefined || client === undefined) throw gone();
          const { request, outcome } = pending;
          // The application may have changed while the user was busy.
          if (!client.redirectUris.includes(request.redirectUri)) throw gone();
          toClient(request, client);
          if (outcome === undefined) return proceed(at, http, { request, client, keptAs: id });
          if (!(await interactions.take(at, id))) throw gone();
          if (outcome === "denied") throw refuse("access_denied", "the user declined");
          return finish(at, http, { request, client, session: outcome.session });
        }),
    },
  ];
}

async function readRequest(request: OidcRequest): Promise<string[]> {
  const { query } = targetOf(request);
  return request.method === "POST" ? [query, await readFormBody(request)] : [query];
}
