import { sourceOf } from "../authz/source.ts";
import type { PageContext } from "./page-context.ts";
import type { RouteParts } from "./route.ts";

/**
 * Tries a code that somebody typed or a link holds. It counts against the source before anybody is looked up, so that it does for
 * users who do not exist too, and budgets tell nothing of them (J12, J13); one that is right costs nothing. What is called
 * meanwhile is told that it is counted (`counted`).
 *
 * @throws RESOURCE_EXHAUSTED BUDGET_SPENT
 */
export async function asGuess<T>(
  { deps: { budgets } }: Pick<RouteParts, "deps">,
  { at }: PageContext,
  work: () => Promise<T>,
  isRight: (outcome: T) => boolean,
): Promise<T> {
  const source = sourceOf(at.peer);
  budgets.spend("guesses", source);
  const outcome = await work();
  if (isRight(outcome)) budgets.giveBack("guesses", source);
  return outcome;
}

/** A caller or a writer whose guess is counted already. */
export const counted = <C extends object>(on: C): C & { isGuessCounted: true } => ({
  ...on,
  isGuessCounted: true,
});
