/** `size` in `seconds`: so many may come at once, and they come back evenly over the time. */
export type Window = { size: number; seconds: number };

export type Buckets = {
  /** Takes one; otherwise the whole seconds after which there is one again. */
  take(key: string): number;
  giveBack(key: string): void;
  /** So many were taken elsewhere (given back, where it is negative): they lack here too. */
  takeElsewhere(key: string, count: number): void;
};

/** Has buckets of one name be shared by the processes that serve together. */
export type ShareBuckets = (name: string, buckets: Buckets) => Buckets;

export const unshared: ShareBuckets = (_, buckets) => buckets;

const mostKeys = 100_000;

type Bucket = { left: number[]; at: number };

/** Token buckets by key. Beyond a hundred thousand keys those that were quiet the longest are full again. */
export function createBuckets(windows: readonly Window[]): Buckets {
  const buckets = new Map<string, Bucket>();

  /** What is left now, in each window. */
  function filled(key: string, now: number): number[] {
    const bucket = buckets.get(key);
    if (bucket === undefined) return windows.map(({ size }) => size);
    const passed = (now - bucket.at) / 1000;
    return windows.map(({ size, seconds }, index) =>
      Math.min(size, (bucket.left[index] ?? 0) + (passed * size) / seconds),
    );
  }

  function keep(key: string, left: number[], at: number): void {
    // Last used last.
    buckets.delete(key);
    buckets.set(key, { left, at });
    if (buckets.size <= mostKeys) return;
    const [oldest] = buckets.keys();
    if (oldest !== undefined) buckets.delete(oldest);
  }

  function change(key: string, by: number): void {
    const now = performance.now();
    const left = filled(key, now);
    const changed = windows.map(({ size }, index) =>
      Math.max(0, Math.min(size, (left[index] ?? 0) + by)),
    );
    keep(key, changed, now);
  }

  return {
    take(key) {
      const now = performance.now();
      const left = filled(key, now);
      const waits = windows.map(({ size, seconds }, index) => {
        const missing = 1 - (left[index] ?? 0);
        return missing <= 0 ? 0 : Math.max(1, Math.ceil((missing * seconds) / size));
      });
      const wait = Math.max(0, ...waits);
      keep(key, wait === 0 ? left.map((each) => each - 1) : left, now);
      return wait;
    },
    giveBack: (key) => change(key, 1),
    takeElsewhere: (key, count) => change(key, -count),
  };
}
