/** What is there at once where it is remembered, and else promised. */
export type Awaitable<T> = T | Promise<T>;

/** Goes on with a value, at once where it is no promise: what is remembered spares its callers theirs. */
export function whenKnown<T, R>(
  value: Awaitable<T>,
  next: (known: T) => Awaitable<R>,
): Awaitable<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
