/** What fuzzing found, by the seed and the path that lead there again. The inputs themselves stand in the specs of their subject. */
export const regressions: readonly { target: string; seed: number; path: string }[] = [];
