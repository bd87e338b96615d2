/** Draws that follow from a seed alone. */
export type Random = {
  /** From 0 to less than 1. */
  next(): number;
  below(limit: number): number;
  chance(share: number): boolean;
  /** One of them; undefined of none. */
  one<T>(of: readonly T[]): T | undefined;
  weighted<T>(of: readonly (readonly [T, number])[]): T;
};

/** Mulberry32: small, fast, and the same everywhere. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const random: Random = {
    next,
    below: (limit) => Math.floor(next() * limit),
    chance: (share) => next() < share,
    one: (of) => of[Math.floor(next() * of.length)],
    weighted(of) {
      let left = next() * of.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [each, weight] of of) {
        left -= weight;
        if (left < 0) return each;
      }
      const last = of.at(-1);
      if (last === undefined) throw new Error("there is nothing to draw");
      return last[0];
    },
  };
  return random;
}
