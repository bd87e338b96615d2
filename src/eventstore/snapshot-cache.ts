import type { LoggedEvent } from "./eventstore.ts";
import { recent } from "../storage/recent.ts";
import { frozen } from "./frozen.ts";

/** What the events of a stream come to, and the last of them. */
export type Fold = {
  state: unknown;
  last: LoggedEvent;
  /** When the personal keys were read that opened something of it; undefined where none did. */
  keysVersion: number | undefined;
  /** The cache version of the stream when it was read: while it stands still, nothing was written since. */
  streamVersion: number;
};

const capacity = 1_000;

/**
 * The snapshot cache: folds of streams, by a key for each. A stream only grows, so a fold is right until a personal key is destroyed that opened
 * something of it: who asks again reads and folds no more than what was written since, and nothing while the cache version of
 * the stream stands still. They are frozen, as all who load the
 * object share them.
 */
export function createSnapshotCache(): {
  find(key: string, keysVersion: number): Fold | undefined;
  store(key: string, fold: Fold): void;
} {
  const folds = recent<Fold>(capacity);
  return {
    find(key, keysVersion) {
      const fold = folds.find(key);
      if (fold === undefined) return undefined;
      if (fold.keysVersion === undefined || fold.keysVersion === keysVersion) return fold;
      folds.forget(key);
      return undefined;
    },
    store: (key, fold) => folds.store(key, frozen(fold)),
  };
}
