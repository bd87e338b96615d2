import { authenticateClient, readCredentials } from "../client-auth/index.ts";
import type { Endpoint } from "../endpoint.ts";
import { asClient, OAuthError } from "../errors.ts";
import { readForm, required } from "../form.ts";
import { json } from "../http.ts";
import { tokenPath } from "../paths.ts";
import type { Grant, TokenParts } from "./grant.ts";
import { usedUpAnyway } from "./used-up.ts";
import { authorizationCode } from "./grants/authorization-code.ts";
import { clientCredentials } from "./grants/client-credentials.ts";
import { deviceCode } from "./grants/device-code.ts";
import { jwtBearer } from "./grants/jwt-bearer.ts";
import { refreshToken } from "./grants/refresh-token.ts";
import { tokenExchange } from "./grants/token-exchange.ts";

/** Every grant type of the token endpoint. */
export const grants: readonly Grant[] = [
  authorizationCode,
  refreshToken,
  clientCredentials,
  jwtBearer,
  tokenExchange,
  deviceCode,
];

// RFC 8693 section 2.1; no entry of them holds a space.
const severalTimes = ["audience", "resource"];
const byName = new Map(grants.map((grant) => [grant.name, grant]));

/** The token endpoint (RFC 6749 section 3.2). */
export const tokenEndpoint = (parts: TokenParts): Endpoint => ({
  metadata: "token_endpoint",
  path: tokenPath,
  methods: ["POST"],
  caller: "client",
  crossOrigin: "apps",
  isChange: true,
  async handle(request, at) {
    const form = await readForm(request, severalTimes);
    const name = required(form, "grant_type");
    const grant = byName.get(name);
    const isOn = grant !== undefined && (grant.isOn === undefined || (await grant.isOn(parts, at)));
    if (!isOn) throw new OAuthError("unsupported_grant_type", "the grant type is not supported");
    if (grant.appGrant === undefined)
      return json(200, await grant.handle(parts, { request, form, at }));
    const credentials = readCredentials(request, form);
    const { client, hasProven, spend } = await authenticateClient(parts, at, credentials);
    const { clientId } = client;
    const { appGrant, handle } = grant;
    const answering = async () => {
      if (!client.grantTypes.includes(appGrant)) {
        throw new OAuthError("unauthorized_client", `the client has no grant ${name}`);
      }
      return json(200, await handle(parts, { request, form, at, client, spend }));
    };
    return asClient({ clientId, hasProven }, () =>
      usedUpAnyway(parts.tokens, at, spend, answering),
    );
  },
});
