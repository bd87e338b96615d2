import { authenticateClient, readCredentials } from "../client-auth/index.ts";
import type { Endpoint } from "../endpoint.ts";
import { OAuthError } from "../errors.ts";
import { readForm, required } from "../form.ts";
import { json } from "../http.ts";
import { tokenPath } from "../paths.ts";
import type { Grant, TokenParts } from "./grant.ts";
import { clientCredentials } from "./grants/client-credentials.ts";

/** Every grant type of the token endpoint. */
export const grants: readonly Grant[] = [clientCredentials];

const byName = new Map(grants.map((grant) => [grant.name, grant]));

/** The token endpoint (RFC 6749 section 3.2). */
export const tokenEndpoint = (parts: TokenParts): Endpoint => ({
  metadata: "token_endpoint",
  path: tokenPath,
  methods: ["POST"],
  caller: "client",
  crossOrigin: "apps",
  async handle(request, at) {
    const form = await readForm(request);
    const name = required(form, "grant_type");
    const grant = byName.get(name);
    const isOn = grant !== undefined && (grant.isOn === undefined || (await grant.isOn(parts, at)));
    if (!isOn) throw new OAuthError("unsupported_grant_type", "the grant type is not supported");
    if (grant.appGrant === undefined)
      return json(200, await grant.handle(parts, { request, form, at }));
    const credentials = readCredentials(request, form);
    const { client, spend } = await authenticateClient(parts, at, credentials);
    if (!client.grantTypes.includes(grant.appGrant)) {
      throw new OAuthError("unauthorized_client", `the client has no grant ${name}`);
    }
    return json(200, await grant.handle(parts, { request, form, at, client, spend }));
  },
});
