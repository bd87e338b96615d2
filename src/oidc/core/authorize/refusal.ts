import type { OAuthErrorCode } from "../errors.ts";

/**
 * A refusal that the client hears of, at its redirect URI. Until client and URI are proven there is none: then it is an
 * `OAuthError`, shown on a page of our own (RFC 6749 section 4.1.2.1).
 */
export class AuthorizationRefused extends Error {
  readonly code: OAuthErrorCode;

  constructor(code: OAuthErrorCode, description: string) {
    super(description);
    this.name = "AuthorizationRefused";
    this.code = code;
  }
}

export const refuse = (code: OAuthErrorCode, description: string): AuthorizationRefused =>
  new AuthorizationRefused(code, description);
