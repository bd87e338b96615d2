import { datedToken, tokenPrefixes } from "../../crypto/digests.ts";
import { type Awaitable, whenKnown } from "../../awaitable.ts";
import type { SecretStore } from "../../eventstore/secret-store.ts";
import type { SecretKind } from "../core/ports.ts";

const prefixes = {
  access_token: tokenPrefixes.accessToken,
  refresh_token: tokenPrefixes.refreshToken,
  authorization_code: tokenPrefixes.authorizationCode,
  device_code: tokenPrefixes.deviceCode,
} as const;

export const newSecret = (kind: SecretKind, at: Date): string => datedToken(prefixes[kind], at);

/**
 * Under what an access token is stored: its digest, which stands behind the ID that a JWT has of us, so that the new ones
 * stand together.
 * @param jti read from the token where it is not given
 */
export const accessTokenKey = (
  secrets: Pick<SecretStore, "digest">,
  instanceId: string,
  value: string,
  jti = idIn(value),
): Awaitable<string> => whenKnown(secrets.digest(instanceId, value), (digest) => jti + digest);

// Whoever writes something else there finds nothing: the digest is of the whole.
function idIn(value: string): string {
  const [, claims] = value.split(".");
  if (claims === undefined) return "";
  try {
    const { jti } = Object(JSON.parse(Buffer.from(claims, "base64url").toString()));
    return typeof jti === "string" && /^\d{1,20}$/.test(jti) ? jti : "";
  } catch {
    return "";
  }
}
