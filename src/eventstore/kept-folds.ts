import type { LoggedEvent } from "./eventstore.ts";
import { frozen } from "./frozen.ts";

/** What the events of a stream come to, and the last of them. */
export type Fold = {
  state: unknown;
  last: LoggedEvent;
  /** When the personal keys were read that opened something of it; undefined where none did. */
  keysVersion: number | undefined;
};

/** Those that were asked for last stay. */
const mostKept = 500;

/**
 * Folds of streams, by a key for each. A stream only grows, so a fold is right until a personal key is destroyed that opened
 * something of it: who asks again reads and folds no more than what was written since. They are frozen, as all who load the
 * object share them.
 */
export function createKeptFolds(): {
  find(key: string, keysStamp: number): Fold | undefined;
  keep(key: string, fold: Fold): void;
} {
  const kept = new Map<string, Fold>();
  return {
    find(key, keysStamp) {
      const fold = kept.get(key);
      if (fold === undefined) return undefined;
      kept.delete(key);
      if (fold.keysVersion !== undefined && fold.keysVersion !== keysStamp) return undefined;
      kept.set(key, fold);
      return fold;
    },
    keep(key, fold) {
      kept.delete(key);
      kept.set(key, frozen(fold));
      if (kept.size <= mostKept) return;
      const [oldest = ""] = kept.keys();
      kept.delete(oldest);
    },
  };
}
