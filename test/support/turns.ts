const isLong = process.env["IDSVC_TEST_LONG"] !== undefined;

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
