import { Secret, TOTP } from "otpauth";

/** The one-time password of an app at a time. */
export const totpOf = (secret: string, now: Date): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: now.getTime() });
