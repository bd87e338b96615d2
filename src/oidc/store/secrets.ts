import { randomToken, tokenPrefixes } from "../../crypto/digests.ts";
import type { SecretKind } from "../core/ports.ts";

const prefixes = {
  access_token: tokenPrefixes.accessToken,
  refresh_token: tokenPrefixes.refreshToken,
  authorization_code: tokenPrefixes.authorizationCode,
  device_code: tokenPrefixes.deviceCode,
} as const;

export const newSecret = (kind: SecretKind): string => randomToken(prefixes[kind]);
