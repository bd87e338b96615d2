import { internal } from "../errors.ts";

/** The cost of the argon2id hashes that the service makes: 19 MiB, 2 passes, 1 lane, 32 bytes (OWASP's least). */
export const argon2Policy = {
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
  outputLen: 32,
} as const;

/** @param text for the log: callers are told that something broke */
export const hashBroken = (text: string, cause: unknown) =>
  internal("PASSWORD_HASH_BROKEN", text, { cause });
