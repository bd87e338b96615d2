/**
 * How well the values of two kinds are told apart by their size: the probability that one of the first kind is greater than one of the
 * second, equal ones by half (the area under the curve of the best threshold). One half tells nothing.
 */
export function areaUnderCurve(ones: readonly number[], others: readonly number[]): number {
  const all = [
    ...ones.map((value) => ({ value, isOne: true })),
    ...others.map((value) => ({ value, isOne: false })),
  ].sort((a, b) => a.value - b.value);
  let ranks = 0;
  for (let at = 0; at < all.length; ) {
    let end = at;
    while (end < all.length && all[end]?.value === all[at]?.value) end += 1;
    // Equal values share the mean of their ranks.
    const rank = (at + end + 1) / 2;
    for (; at < end; at += 1) if (all[at]?.isOne === true) ranks += rank;
  }
  const least = (ones.length * (ones.length + 1)) / 2;
  return (ranks - least) / (ones.length * others.length);
}

/** The most by which a classifier may do better than chance (D49): an area of 0.45 to 0.55. */
export const mostAdvantage = 0.05;

/** The standard error of the area where there is nothing to tell, for so many values of each kind. */
export const errorOfArea = (count: number): number => Math.sqrt(1 / (6 * count));
