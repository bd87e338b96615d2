import { failedPrecondition } from "../errors.ts";

/** Every build is younger. */
const earliest = Date.UTC(2026, 0, 1);

export const setClock = "set the clock of the machine (timedatectl set-ntp true)";

/**
 * Refuses a clock that was never set, as that of a machine without a battery: tokens, codes and certificates would count by it.
 *
 * @throws FAILED_PRECONDITION CLOCK_WRONG
 */
export function requireClock(now: Date): void {
  if (now.getTime() >= earliest) return;
  throw failedPrecondition(
    "CLOCK_WRONG",
    `the clock says ${now.toISOString()}, which is before this version was made: ${setClock}`,
  );
}
