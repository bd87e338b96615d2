/**
 * Does work under one key after the other, in the order of the calls; work under other keys goes on beside it.
 *
 * Writers of one object that come at once then wait for each other, instead of failing on each other again and again.
 * @returns undefined, without doing it, where too many wait already
 */
export function createTurns(mostWaiting: number) {
  const turns = new Map<string, { last: Promise<unknown>; waiting: number }>();

  return async <T>(key: string, work: () => Promise<T>): Promise<T | undefined> => {
    const turn = turns.get(key) ?? { last: Promise.resolve(), waiting: 0 };
    if (turn.waiting >= mostWaiting) return undefined;
    turns.set(key, turn);
    turn.waiting++;
    const mine = turn.last.then(work);
    // What fails is its caller's to hear of, not the next one's.
    turn.last = mine.catch(() => undefined);
    try {
      return await mine;
    } finally {
      turn.waiting--;
      if (turn.waiting === 0) turns.delete(key);
    }
  };
}
