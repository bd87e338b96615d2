import { browserEndpoints } from "./browser-endpoints.ts";
import { ClientRefused } from "./client-auth/index.ts";
import { clientEndpoints } from "./client-endpoints.ts";
import type { Endpoint } from "./endpoint.ts";
import { errorAnswer, OAuthError } from "./errors.ts";
import { type OidcAnswer, type OidcRequest, targetOf, toResponse } from "./http.ts";
import type { At, Ports } from "./ports.ts";

/**
 * An OpenID Provider without a web server and without a database: requests in, answers out, everything else over ports.
 */
export type Provider = {
  endpoints: readonly Endpoint[];
  /** Answers a request at one of the endpoints; refusals are answers too. */
  handle(endpoint: Endpoint, request: OidcRequest, at: At): Promise<OidcAnswer>;
  /** The same for whoever has whole WHATWG requests. */
  fetch(request: Request, at: At): Promise<Response>;
};

export function createProvider(ports: Ports): Provider {
  const endpoints: readonly Endpoint[] = [
    ...clientEndpoints(ports, () => endpoints),
    ...browserEndpoints(ports),
  ];
  const byPath = new Map(endpoints.map((endpoint) => [endpoint.path, endpoint]));

  async function handle(endpoint: Endpoint, request: OidcRequest, at: At): Promise<OidcAnswer> {
    try {
      return await endpoint.handle(request, at);
    } catch (error) {
      if (error instanceof ClientRefused) ports.noteRefusedClient(at, endpoint.path, error.client);
      if (error instanceof OAuthError) return errorAnswer(error);
      throw error;
    }
  }

  return {
    endpoints,
    handle,
    async fetch(request, at) {
      const endpoint = byPath.get(targetOf(request).path);
      if (endpoint === undefined) return new Response(null, { status: 404 });
      const isServed = endpoint.methods.some((method) => method === request.method);
      if (!isServed) {
        return new Response(null, { status: 405, headers: { allow: endpoint.methods.join(", ") } });
      }
      return toResponse(await handle(endpoint, request, at));
    },
  };
}
