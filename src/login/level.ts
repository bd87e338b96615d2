import { type Strength, strengthOf, strengths } from "../authz/step-up.ts";
import { levelsOf } from "../resources/session/index.ts";
import type { LoginSession } from "./sessions.ts";

/**
 * How strongly a person still has to prove themselves for what is asked in `acr`: the first value that they can
 * come to, where none that was asked for is met. Undefined where nothing is asked, or nothing that they could do.
 *
 * @param held what the person can prove themselves by
 */
export function dueLevel(
  acr: { values: readonly string[] } | undefined,
  session: Pick<LoginSession, "proofs">,
  available: readonly Strength[],
  freshSince = 0,
): Strength | undefined {
  const asked = (acr?.values ?? []).map(strengthOf).filter((each) => each !== undefined);
  if (asked.length === 0) return undefined;
  const met = levelsOf(session.proofs, freshSince);
  if (asked.some((each) => met.includes(each))) return undefined;
  return asked.map((each) => wayTo(each, available)).find((each) => each !== undefined);
}

/** The weakest that they can prove of what is as strong, or stronger. */
const wayTo = (level: Strength, available: readonly Strength[]): Strength | undefined =>
  strengths.slice(0, strengths.indexOf(level) + 1).findLast((each) => available.includes(each));
