import * as client from "openid-client";
import type { EgressClient } from "../egress/client.ts";
import { fromClaims, textOf } from "./claims.ts";
import { type Documents, lookAgainMs } from "./documents.ts";
import { authOf, clientOf, judged, returnedTo } from "./oauth-client.ts";
import { callbackPath } from "./paths.ts";
import type { Connector, ExternalIdentity, OidcConfig } from "./provider.ts";
import { answerInvalid, configInvalid, printable } from "./refusals.ts";
import { proveToken } from "./signature.ts";

export type Parts = {
  egress: Pick<EgressClient, "call">;
  documents: Documents;
  now: () => Date;
};

/** What a branded provider does otherwise. */
export type Particulars = {
  /** A client that proves itself by what it makes anew each time. */
  auth?: () => Promise<client.ClientAuth>;
  /** Further parameters of the request. */
  parameters?: Readonly<Record<string, string>>;
  /** Completes what is told of the user by what came with the answer. */
  complete?: (identity: ExternalIdentity, form: ReadonlyMap<string, string>) => ExternalIdentity;
};

const usualScopes = ["openid", "profile", "email"];
const clockSkewMs = 60_000;

/**
 * OpenID Connect by the authorization code flow with state, nonce and PKCE. The ID token must be signed by a key of the
 * issuer and be for this client alone; userinfo must be of the same user (D61).
 *
 * Source: OpenID Connect Core 3.1, 5.3; RFC 7636; RFC 9207.
 */
export function oidcConnector(
  parts: Parts,
  config: OidcConfig,
  secret: string | undefined,
  particulars: Particulars = {},
): Connector {
  const { egress, documents, now } = parts;
  const { issuer, clientId } = config;
  const scope = (config.scopes.length === 0 ? usualScopes : config.scopes).join(" ");

  async function discovered(): Promise<client.ServerMetadata> {
    const url = `${issuer.replace(/\/$/, "")}${discoveryPath}`;
    let found = await documents.json(url);
    if (found["issuer"] !== issuer)
      found = await documents.json(url, now().getTime() - lookAgainMs);
    if (found["issuer"] !== issuer) throw otherIssuer(found["issuer"], issuer);
    return found as client.ServerMetadata;
  }

  async function open(): Promise<client.Configuration> {
    const server = await discovered();
    const methods = server.token_endpoint_auth_methods_supported;
    const auth = (await particulars.auth?.()) ?? authOf(secret, methods);
    return clientOf(egress, server, { clientId, auth, address: issuer });
  }

  return {
    async begin({ state, baseUrl, isFresh, loginHint }) {
      const opened = await open();
      const nonce = client.randomNonce();
      const codeVerifier = client.randomPKCECodeVerifier();
      const url = await judged(async () =>
        client.buildAuthorizationUrl(opened, {
          redirect_uri: new URL(callbackPath, baseUrl).href,
          scope: scope.split(" ").includes("openid") ? scope : `openid ${scope}`,
          state,
          nonce,
          code_challenge: await client.calculatePKCECodeChallenge(codeVerifier),
          code_challenge_method: "S256",
          ...(isFresh ? { prompt: "login", max_age: "0" } : {}),
          ...(loginHint === undefined ? {} : { login_hint: loginHint }),
          ...particulars.parameters,
        }),
      );
      const begunAt = String(now().getTime());
      const kept = { nonce, codeVerifier, ...(isFresh ? { begunAt } : {}) };
      return { way: { kind: "redirect", url: url.href }, kept };
    },

    async finish(answer, kept) {
      const { nonce = "", codeVerifier = "", begunAt } = kept;
      if (nonce === "" || codeVerifier === "") throw answerInvalid("nothing was asked");
      const opened = await open();
      return judged(async () => {
        const tokens = await client.authorizationCodeGrant(opened, returnedTo(answer, own), {
          pkceCodeVerifier: codeVerifier,
          expectedState: answer.parameters.get("state") ?? "",
          expectedNonce: nonce,
          idTokenExpected: true,
        });
        const idToken = tokens.id_token ?? "";
        const keysUrl = opened.serverMetadata().jwks_uri ?? "";
        const { id, claims, authTime } = await proven(parts, config, { idToken, keysUrl, begunAt });
        const accessToken = tokens.access_token;
        const hasUserinfo = opened.serverMetadata().userinfo_endpoint !== undefined;
        const more =
          config.isIdTokenMapping || !hasUserinfo
            ? {}
            : await client.fetchUserInfo(opened, accessToken, id);
        const identity = {
          ...fromClaims(id, { ...claims, ...more }),
          accessToken,
          idToken,
          ...(authTime === undefined ? {} : { authTime }),
        };
        return particulars.complete?.(identity, answer.parameters) ?? identity;
      });
    },
  };
}

/** Whom an ID token names, once it is known to be the issuer's and for this client. @throws IDP_ANSWER_INVALID */
async function proven(
  parts: Parts,
  { issuer, clientId }: OidcConfig,
  { idToken, keysUrl, begunAt }: { idToken: string; keysUrl: string; begunAt: string | undefined },
) {
  const claims = await proveToken(parts, idToken, { keysUrl, issuer, audience: clientId });
  if (claims["azp"] !== undefined && claims["azp"] !== clientId) {
    throw answerInvalid("its token is for another client (azp)");
  }
  const id = textOf(claims.sub);
  if (id === undefined) throw answerInvalid("its token names nobody");
  const authTime = timeOf(claims["auth_time"]);
  if (begunAt !== undefined && authTime !== undefined) {
    if (authTime.getTime() < Number(begunAt) - clockSkewMs) {
      throw answerInvalid("the user did not prove who they are anew, as was asked");
    }
  }
  return { id, claims, authTime };
}

const otherIssuer = (found: unknown, issuer: string) => {
  const named =
    typeof found === "string" ? `names the issuer ${printable(found)}` : "names no issuer";
  return configInvalid(`its discovery document ${named}, and ${issuer} is configured`);
};

const discoveryPath = "/.well-known/openid-configuration";
// Ours, or of one provider: no part of the protocol.
const own = ["user", "again"];

const timeOf = (value: unknown): Date | undefined =>
  typeof value === "number" && Number.isFinite(value) ? new Date(value * 1_000) : undefined;
