/**
 * What a browser is asked for where nobody is named yet: any passkey for the domain, which tells whose it is (Web
 * Authentication Level 3, section 5.5).
 */
export const passkeyOptions = (challenge: string, domain: string): Record<string, unknown> => ({
  challenge,
  rpId: domain,
  allowCredentials: [],
  userVerification: "required",
  timeout: 300_000,
});
