import type { KeyObject } from "node:crypto";
import type { Awaitable } from "../../awaitable.ts";
import type { At } from "./ports.ts";

/** What signs: `kid` and `alg` go into the header. */
export type Signer = { kid: string; alg: string; key: KeyObject };
export type PublicKey = { kid: string; alg: string; kty: string; use: "sig" };

export interface Keys {
  /** The key of the algorithm, made where there is none; the active key where none is asked for. */
  signer(at: At, alg: string | undefined): Promise<Signer>;
  /** Every key that may have signed something that still counts, and the next one. */
  publicKeys(at: At): Promise<readonly PublicKey[]>;
  /** Whether an issuer is, or may have been, one of the instance: tokens hold on all its domains, whatever the port (B1). */
  isIssuer(at: At, issuer: string): Awaitable<boolean>;
}
