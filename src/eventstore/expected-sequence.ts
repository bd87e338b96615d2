import { aborted } from "../errors.ts";
import type { WriteContext } from "./transaction.ts";

/**
 * Refuses a change that was meant for another state of an object than the one it is in.
 *
 * @param present the sequence that reading the object tells; 0 where nothing has happened to it
 * @throws ABORTED SEQUENCE_MISMATCH, whose metadata have the present sequence
 */
export function requireSequence(
  { expectedSequence }: Pick<WriteContext, "expectedSequence">,
  present: bigint,
): void {
  if (expectedSequence === undefined || expectedSequence === present) return;
  throw aborted(
    "SEQUENCE_MISMATCH",
    `the object is at sequence ${present}, not at ${expectedSequence}: read it again before it is changed`,
    { metadata: { sequence: `${present}` } },
  );
}

/** For units that come before the one in which the expectation is judged, and concern other objects. */
export const withoutExpectation = (at: WriteContext): WriteContext =>
  at.expectedSequence === undefined ? at : { ...at, expectedSequence: undefined };
