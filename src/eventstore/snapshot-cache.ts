import type { LoggedEvent } from "./eventstore.ts";
import { frozen } from "./frozen.ts";

/** What the events of a stream come to, and the last of them. */
export type Fold = {
  state: unknown;
  last: LoggedEvent;
  /** When the personal keys were read that opened something of it; undefined where none did. */
  keysVersion: number | undefined;
};

/** Those that were asked for last stay, at most so many. */
const capacity = 500;

/**
 * The snapshot cache: folds of streams, by a key for each. A stream only grows, so a fold is right until a personal key is destroyed that opened
 * something of it: who asks again reads and folds no more than what was written since. They are frozen, as all who load the
 * object share them.
 */
export function createSnapshotCache(): {
  find(key: string, keysStamp: number): Fold | undefined;
  store(key: string, fold: Fold): void;
} {
  const folds = new Map<string, Fold>();
  return {
    find(key, keysStamp) {
      const fold = folds.get(key);
      if (fold === undefined) return undefined;
      folds.delete(key);
      if (fold.keysVersion !== undefined && fold.keysVersion !== keysStamp) return undefined;
      folds.set(key, fold);
      return fold;
    },
    store(key, fold) {
      folds.delete(key);
      folds.set(key, frozen(fold));
      if (folds.size <= capacity) return;
      const [oldest = ""] = folds.keys();
      folds.delete(oldest);
    },
  };
}
