import * as client from "openid-client";
import { fromClaims, said, splitName, textOf } from "./claims.ts";
import { authOf, clientOf, judged, returnedTo } from "./oauth-client.ts";
import type { Parts } from "./oidc.ts";
import { callbackPath } from "./paths.ts";
import type { Connector, ExternalIdentity, OAuthConfig } from "./provider.ts";
import { answerInvalid, providerUnavailable } from "./refusals.ts";

type Raw = Record<string, unknown>;

/** What a branded provider does otherwise. */
export type Mapping = {
  toIdentity?: (id: string, raw: Raw) => ExternalIdentity;
  /** More that is told of the user, at other addresses. */
  more?: (read: (url: string) => Promise<unknown>) => Promise<Raw>;
};

/**
 * OAuth 2.0 by the authorization code flow with state and PKCE; who the user is, the user endpoint tells. What it says of
 * a verified e-mail address counts only as `email_verified: true`.
 *
 * Source: RFC 6749 section 4.1, RFC 7636.
 */
export function oauthConnector(
  { egress }: Parts,
  config: OAuthConfig,
  secret: string | undefined,
  { toIdentity = fromUser, more }: Mapping = {},
): Connector {
  const { clientId, authorizationEndpoint, tokenEndpoint, userEndpoint, idAttribute } = config;
  // A client without a secret proves by nothing else that the code is its own.
  const usesPkce = config.usePkce || secret === undefined;
  const server = {
    issuer: new URL(authorizationEndpoint).origin,
    authorization_endpoint: authorizationEndpoint,
    token_endpoint: tokenEndpoint,
  };
  const open = () => {
    const own = { clientId, auth: authOf(secret, ["client_secret_post"]), address: tokenEndpoint };
    return clientOf(egress, server, own, withoutIdToken);
  };

  return {
    async begin({ state, baseUrl }) {
      const codeVerifier = usesPkce ? client.randomPKCECodeVerifier() : "";
      const challenge = codeVerifier && (await client.calculatePKCECodeChallenge(codeVerifier));
      const url = await judged(async () =>
        client.buildAuthorizationUrl(open(), {
          redirect_uri: new URL(callbackPath, baseUrl).href,
          ...(config.scopes.length === 0 ? {} : { scope: config.scopes.join(" ") }),
          state,
          ...(challenge === "" ? {} : { code_challenge: challenge, code_challenge_method: "S256" }),
        }),
      );
      return { way: { kind: "redirect", url: url.href }, kept: { codeVerifier } };
    },

    async finish(answer, { codeVerifier = "" }) {
      const opened = open();
      return judged(async () => {
        const tokens = await client.authorizationCodeGrant(
          opened,
          returnedTo(answer, ["iss", "user", "again"]),
          {
            expectedState: answer.parameters.get("state") ?? "",
            ...(codeVerifier === "" ? {} : { pkceCodeVerifier: codeVerifier }),
          },
        );
        const accessToken = tokens.access_token;
        const read = async (url: string): Promise<unknown> => {
          const headers = new Headers({ accept: "application/json" });
          const response = await client.fetchProtectedResource(
            opened,
            accessToken,
            new URL(url),
            "GET",
            undefined,
            headers,
          );
          if (!response.ok) throw providerUnavailable(new Error(`${response.status}`));
          return response.json();
        };
        const user = await read(userEndpoint);
        if (user === null || typeof user !== "object") {
          throw answerInvalid("its user endpoint tells of nobody");
        }
        const raw: Raw = { ...user, ...(await more?.(read)) };
        const id = textOf(raw[idAttribute]);
        if (id === undefined) throw answerInvalid(`its user has no "${idAttribute}"`);
        return { ...toIdentity(id, raw), accessToken };
      });
    },
  };
}

/** The standard claims, and the names that many use in their place. */
function fromUser(id: string, raw: Raw): ExternalIdentity {
  const identity = fromClaims(id, raw);
  return {
    ...splitName(identity.displayName),
    ...said({ username: textOf(raw["login"]) ?? textOf(raw["username"]) }),
    ...identity,
  };
}

// An ID token says nothing here: nobody could tell whose it is.
async function withoutIdToken(response: Response): Promise<Response> {
  const text = await response.clone().text();
  if (!text.includes('"id_token"')) return response;
  const { id_token: _, ...rest } = JSON.parse(text) as Raw;
  const { status } = response;
  return new Response(JSON.stringify(rest), {
    status,
    headers: { "content-type": "application/json" },
  });
}
