/** Whether this is `npm run test:long`. */
export const isLong = process.env["IDSVC_TEST_LONG"] !== undefined;

/**
 * Of two ways to do the same thing, the one whose turn it is: `npm test` takes the first way for one thing and the second for the next,
 * and `npm run test:long` the other way for each. For a spec that says `turns`, which both of them run.
 */
export function turns(): <T>(ways: readonly [T, T]) => T {
  let count = 0;
  return ([first, second]) => {
    const isFirst = count++ % 2 === 0;
    return isFirst !== isLong ? first : second;
  };
}

/** Of things that are tried alike, every other one: `npm test` takes the first, the third and so on, `npm run test:long` the rest. */
export const everyOther = <T>(things: readonly T[]): T[] =>
  things.filter((_, at) => (at % 2 === 0) !== isLong);
