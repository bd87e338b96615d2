import type { SecretStore } from "../../../eventstore/secret-store.ts";
import type { RowChange } from "../../../storage/row-change.ts";
import { cut } from "../../../texts/cut.ts";
import { authenticatorsOf } from "../authenticator/authenticators.ts";
import type { CodeCheck } from "../check/attempts.ts";
import { checkEvents } from "../check/events.ts";
import type { Credentials } from "../credentials.ts";
import { secretsOfUsers, type UserRef } from "../user-ref.ts";

// Loaded when somebody uses such an app.
const library = () => import("otpauth");

const ref = secretsOfUsers("totp");
const period = 30;
const secretBytes = 20;
// What an app shows beside the code. A longer one would make a QR code that cameras do not read, and at last none at all.
const mostOfLabel = 200;
const shortLabel = (label: string): string =>
  cut(label, mostOfLabel, (part) => encodeURIComponent(part).length);
const options = { algorithm: "SHA1", digits: 6, period };

export type TotpStore = ReturnType<typeof createTotpStore>;

/** Seeds of apps that make one-time passwords (RFC 6238: SHA-1, 6 digits, 30 seconds, which every app knows). */
export function createTotpStore(secrets: SecretStore) {
  return {
    /** A new seed, as the app reads it, and the row that keeps it. */
    async make(
      user: UserRef,
      totp: { id: string; issuer: string; label: string; createdAt: Date },
    ) {
      const { id, issuer, label, createdAt } = totp;
      const { Secret, TOTP } = await library();
      const secret = new Secret({ size: secretBytes });
      return {
        uri: new TOTP({ ...options, issuer, label: shortLabel(label), secret }).toString(),
        secret: secret.base32,
        change: await secrets.put(ref(user, id), secret.bytes, createdAt),
      };
    },
    /** The row that keeps the seed of an app that has it already, in Base32. */
    async keep(user: UserRef, id: string, secret: string, createdAt: Date): Promise<RowChange> {
      const { Secret } = await library();
      const { bytes } = Secret.fromBase32(secret.replaceAll(" ", ""));
      return secrets.put(ref(user, id), bytes, createdAt);
    },
    /**
     * The time step that a code is of: the present one, or one before or after it, and later than `after`, so that none
     * counts twice (C6).
     */
    async stepOf(
      user: UserRef,
      totpId: string,
      { code, now, after }: { code: string; now: Date; after: bigint },
    ): Promise<bigint | undefined> {
      const bytes = await secrets.open(ref(user, totpId));
      if (bytes === undefined) return undefined;
      const { Secret, TOTP } = await library();
      const secret = new Secret({ buffer: Uint8Array.from(bytes).buffer });
      const token = code.replaceAll(" ", "");
      const timestamp = now.getTime();
      const delta = new TOTP({ ...options, secret }).validate({ token, timestamp, window: 1 });
      if (delta === null) return undefined;
      const step = BigInt(Math.floor(timestamp / 1_000 / period) + delta);
      return step > after ? step : undefined;
    },
    /** The seed in Base32, for who takes it elsewhere. */
    async read(user: UserRef, totpId: string): Promise<string | undefined> {
      const bytes = await secrets.open(ref(user, totpId));
      if (bytes === undefined) return undefined;
      const { Secret } = await library();
      return new Secret({ buffer: Uint8Array.from(bytes).buffer }).base32;
    },
    remove: (user: UserRef, totpId: string): RowChange => secrets.remove(ref(user, totpId)),
  };
}

/**
 * Whether a code is of one of the user's apps. Wrong ones are counted with those of their other second factors; nobody, and
 * who has no app, gets the answer of a wrong one.
 */
export const createTotpCheck =
  ({ totps, attempts }: Credentials): CodeCheck =>
  (at, userId, code) =>
    attempts.isRight(at, userId, "factor", async (tx, { authenticators }, row) => {
      const verified = authenticatorsOf(authenticators, "totp", "verified");
      if (verified.length === 0) return undefined;
      for (const { id } of verified) {
        const step = await totps.stepOf(row, id, { code, now: tx.now, after: row.totpStep });
        if (step === undefined) continue;
        const happened = [checkEvents["human.mfa.otp.check.succeeded"]({ totpId: id })];
        return { isRight: true, happened, totpStep: step };
      }
      return { isRight: false, happened: [checkEvents["human.mfa.otp.check.failed"]({})] };
    });
