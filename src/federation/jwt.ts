import { fromClaims, textOf } from "./claims.ts";
import type { Parts } from "./oidc.ts";
import { jwtPath } from "./paths.ts";
import type { Connector, JwtConfig } from "./provider.ts";
import { answerInvalid } from "./refusals.ts";
import { proveToken } from "./signature.ts";

/**
 * A gateway in front of the service that knows who its users are: a browser is sent to it with `state`, and comes back
 * through it with a signed token in a header. For whom the token is, the gateway does not say: the issuer must be one that
 * makes tokens for this alone.
 */
export function jwtConnector(parts: Parts, config: JwtConfig): Connector {
  const { issuer, jwtEndpoint, keysEndpoint, headerName } = config;
  return {
    async begin({ state, baseUrl }) {
      const url = new URL(jwtEndpoint);
      url.searchParams.set("state", state);
      url.searchParams.set("return_to", new URL(jwtPath, baseUrl).href);
      return { way: { kind: "redirect", url: url.href }, kept: {} };
    },

    async finish({ header }) {
      const token = (header(headerName) ?? "").replace(/^Bearer\s+/i, "").trim();
      if (token === "") throw answerInvalid(`there is no token in the header ${headerName}`);
      const claims = await proveToken(parts, token, { keysUrl: keysEndpoint, issuer });
      const id = textOf(claims.sub);
      if (id === undefined) throw answerInvalid("its token names nobody");
      return { ...fromClaims(id, claims), idToken: token };
    },
  };
}
