/** Remembers what was stored or asked for lately; what is forgotten is found anew by whoever asks. */
export type Recent<V> = {
  find(key: string): V | undefined;
  store(key: string, value: V): void;
  forget(key: string): void;
};

/**
 * In two generations, of which the older one goes as a whole: at a hit nothing is moved but what is of the older one.
 *
 * @param capacity the most that is remembered; what is asked for among the last half of as many is there
 */
export function recent<V>(capacity: number): Recent<V> {
  let young = new Map<string, V>();
  let old = new Map<string, V>();

  function store(key: string, value: V): void {
    young.set(key, value);
    if (young.size < capacity / 2) return;
    old = young;
    young = new Map();
  }

  return {
    find(key) {
      const value = young.get(key);
      if (value !== undefined) return value;
      const older = old.get(key);
      if (older !== undefined) store(key, older);
      return older;
    },
    store,
    forget(key) {
      young.delete(key);
      old.delete(key);
    },
  };
}
