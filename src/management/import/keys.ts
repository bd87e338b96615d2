import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { requireClientKey } from "../../resources/object/client-key.ts";
import { toExpiration } from "../../resources/object/expiration.ts";

const never = 9_999;

/** @throws INVALID_ARGUMENT PUBLIC_KEY_INVALID */
export const toPublicKey = (bytes: Uint8Array): string =>
  requireClientKey(Buffer.from(bytes).toString("utf8"), "public_key");

/**
 * When a key ends. Elsewhere the year 9999 stands for never.
 *
 * @throws INVALID_ARGUMENT EXPIRATION_DATE_INVALID
 */
export function toEnd(ends: Timestamp | undefined, now: Date): { expirationDate?: string } {
  if (ends === undefined || timestampDate(ends).getUTCFullYear() >= never) return {};
  const date = toExpiration(ends, now, "expiration_date");
  return date === undefined ? {} : { expirationDate: date.toISOString() };
}
