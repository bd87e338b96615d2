import { availableParallelism } from "node:os";
import { extname } from "node:path";
import { internal, unavailable } from "../errors.ts";
import { createThreadPool, type ThreadAnswer } from "../threads/pool.ts";

/** What the threads do; `password` is the peppered text, except for imported hashes. */
export type PasswordWork =
  | { op: "hash"; password: string }
  | { op: "verify"; password: string; phc: string }
  | { op: "verifyImported"; password: string; encoded: string };

type ResultOf<W extends PasswordWork> = W extends { op: "hash" } ? string : boolean;

export type PasswordAnswer = ThreadAnswer<string | boolean>;

export type PoolSize = {
  threads: number;
  /** How many may wait beside those at work; of more, the source that has most waiting is refused. */
  mostWaiting: number;
};

export type PasswordPool = AsyncDisposable & {
  /**
   * @param source whose request it is: sources take turns
   * @throws UNAVAILABLE PASSWORD_HASHING_BUSY when too many wait already, with the time after which to try again
   * @throws INTERNAL PASSWORD_HASHING_FAILED
   */
  run<W extends PasswordWork>(work: W, source?: string): Promise<ResultOf<W>>;
};

// One core stays with the event loop. A check takes some 30 ms: the last one in the queue waits about two seconds.
const threads = Math.max(1, availableParallelism() - 1);
const usualSize: PoolSize = { threads, mostWaiting: 64 * threads };
const retryAfterSeconds = 2;

const workerFile = new URL(`./password-worker${extname(import.meta.url)}`, import.meta.url);

/**
 * Threads that do nothing but hash (F22): neither the event loop nor libuv's threads, which also serve files,
 * ever wait for a password.
 */
export function createPasswordPool(size = usualSize, script = workerFile): PasswordPool {
  const pool = createThreadPool<PasswordWork, string | boolean>({
    ...size,
    script,
    refusals: {
      busy() {
        const text = "too many passwords are being checked: try again";
        return unavailable("PASSWORD_HASHING_BUSY", text, { retryAfterSeconds });
      },
      failed: (cause) =>
        internal("PASSWORD_HASHING_FAILED", "a password could not be hashed", { cause }),
    },
  });
  return {
    // The one cast: a thread answers an operation with the result of its type.
    run: <W extends PasswordWork>(work: W, source?: string) =>
      pool.run(work, source) as Promise<ResultOf<W>>,
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}

/** The threads of this process. */
export const passwordPool = createPasswordPool();
