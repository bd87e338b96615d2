import { audOf, isFor } from "./audience.ts";
import { tellingTo, userClaims } from "./claims.ts";
import {
  assertionUsed,
  authenticateClient,
  invalidClient,
  readCredentials,
} from "./client-auth/index.ts";
import type { Endpoint } from "./endpoint.ts";
import { asClient } from "./errors.ts";
import { readForm, required } from "./form.ts";
import { withFunction } from "./functions.ts";
import { json, type OidcAnswer } from "./http.ts";
import { seconds } from "./jwt.ts";
import { introspectionPath } from "./paths.ts";
import type { AccessToken, At, AuthMethod, Client } from "./ports.ts";
import type { TokenParts } from "./token/grant.ts";

/** How clients may prove themselves here: always by a secret or a key of their own. */
export const introspectionMethods: readonly AuthMethod[] = ["basic", "private_key_jwt"];

/**
 * Token introspection (RFC 7662). What is no living access token with the asking client in its audience is inactive,
 * and nothing else is told of it.
 */
export const introspectionEndpoint = (parts: TokenParts): Endpoint => ({
  metadata: "introspection_endpoint",
  path: introspectionPath,
  methods: ["POST"],
  caller: "client",
  crossOrigin: "none",
  isChange: false,
  async handle(request, at) {
    const form = await readForm(request);
    const credentials = readCredentials(request, form);
    const byHeader = credentials.method === "basic";
    if (!introspectionMethods.includes(credentials.method)) {
      const detail = `${credentials.method} is no way to prove oneself here`;
      throw invalidClient(byHeader, { clientId: credentials.clientId, detail });
    }
    const { client, hasProven, spend } = await authenticateClient(parts, at, credentials);
    const { clientId } = client;
    for (const assertion of spend) {
      if (await parts.tokens.spend(at, assertion)) continue;
      throw invalidClient(byHeader, { client, clientId, detail: assertionUsed });
    }
    return asClient({ clientId, hasProven }, async () => {
      const value = required(form, "token");
      const token = await parts.tokens.accessToken(at, value);
      if (token === undefined) {
        return { ...inactive, note: { clientId, reason: parts.tokens.newerFormat(value) } };
      }
      return isFor(client, token.audience) ? describe(parts, at, client, token) : inactive;
    });
  },
});

const inactive: OidcAnswer = json(200, { active: false });

async function describe(
  parts: TokenParts,
  at: At,
  client: Client,
  token: AccessToken,
): Promise<OidcAnswer> {
  const user = await parts.users.byId(at, token.userId);
  if (user === undefined) return inactive;
  const { scope, audience } = token;
  // Roles only of the project of the one who asks.
  const telling = tellingTo(client, { user, scope, projectIds: [client.projectId] }, false);
  const issuedAt = seconds(token.issuedAt);
  const response = {
    ...(await userClaims(parts, at, telling, token.claims?.userinfo)),
    active: true,
    iss: at.issuer,
    sub: user.id,
    aud: audOf(at, audience),
    exp: seconds(token.expiresAt),
    iat: issuedAt,
    nbf: issuedAt,
    jti: token.id,
    client_id: token.clientId,
    scope: scope.join(" "),
    token_type: "Bearer",
    username: await parts.users.loginName(at, user.id),
    // RFC 9470 section 6.2.
    ...(token.authTime === undefined ? {} : { auth_time: seconds(token.authTime) }),
    ...(token.acr === undefined ? {} : { acr: token.acr }),
    ...(token.actor === undefined ? {} : { act: token.actor }),
  };
  const context = { user, clientId: token.clientId, actor: token.actor, claims: response };
  return json(200, await withFunction(parts, at, "preuserinfo", context));
}
