import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { invalidField } from "../../errors.ts";

const latest = Date.UTC(9999, 11, 31);

/**
 * When something ends; undefined stands for never.
 *
 * @throws INVALID_ARGUMENT EXPIRATION_DATE_INVALID for a time that has passed, or is after the year 9999
 */
export function toExpiration(
  expirationDate: Timestamp | undefined,
  now: Date,
  field: string,
): Date | undefined {
  if (expirationDate === undefined) return undefined;
  const date = timestampDate(expirationDate);
  // What is no time at all compares as false.
  if (date > now && date.getTime() <= latest) return date;
  const description = "must be later than now, and before the year 10000; leave it out for never";
  throw invalidField(field, "EXPIRATION_DATE_INVALID", description);
}
