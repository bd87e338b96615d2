import { newerFormat } from "../../crypto/token-format.ts";
import { unauthenticated } from "../../errors.ts";
import type { TokenVerifier } from "../../authz/ports.ts";

/**
 * Tells tokens of a newer build from those that do not hold: while one build replaces the other, whoever runs the service sees why
 * they are refused. It asks only what the token says of itself, which its sender knows.
 *
 * @throws UNAUTHENTICATED TOKEN_NEWER
 */
export const refuseNewerTokens: TokenVerifier = (token) => {
  const why = newerFormat(token);
  if (why === undefined) return undefined;
  throw unauthenticated("TOKEN_NEWER", `the token is refused: ${why}`, {
    headers: { "www-authenticate": 'Bearer error="invalid_token"' },
  });
};
