import { availableParallelism } from "node:os";
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { internal, unavailable } from "../errors.ts";

/** What the threads do; `password` is the peppered text, except for imported hashes. */
export type PasswordWork =
  | { op: "hash"; password: string }
  | { op: "verify"; password: string; phc: string }
  | { op: "verifyImported"; password: string; encoded: string };

type ResultOf<W extends PasswordWork> = W extends { op: "hash" } ? string : boolean;

/** What a thread answers; an error travels as its text. */
export type PasswordAnswer = { result: string | boolean } | { error: string };

export type PoolSize = {
  threads: number;
  /** How many may wait for a thread; more are refused at once. */
  mostWaiting: number;
};

export type PasswordPool = AsyncDisposable & {
  /**
   * @throws UNAVAILABLE PASSWORD_HASHING_BUSY when too many wait already, with the time after which to try again
   * @throws INTERNAL PASSWORD_HASHING_FAILED
   */
  run<W extends PasswordWork>(work: W): Promise<ResultOf<W>>;
};

// One core stays with the event loop. A check takes some 30 ms: the last one in the queue waits about two seconds.
const threads = Math.max(1, availableParallelism() - 1);
const usualSize: PoolSize = { threads, mostWaiting: 64 * threads };
const retryAfterSeconds = 2;

const workerFile = new URL(`./password-worker${extname(import.meta.url)}`, import.meta.url);

type Task = {
  work: PasswordWork;
  resolve: (result: string | boolean) => void;
  reject: (error: unknown) => void;
};

// A thread holds one task beside the one at work: it goes on while the event loop waits for a flush.
const mostHeld = 2;

/**
 * Threads that do nothing but hash (faults F22): neither the event loop nor libuv's threads, which also serve files,
 * ever wait for a password. They are started when first needed and keep no process alive.
 */
export function createPasswordPool(size = usualSize, script = workerFile): PasswordPool {
  /** What each thread was given, in order: it works on the first. */
  const held = new Map<Worker, Task[]>();
  const waiting: Task[] = [];

  function start(): Worker {
    // Of the environment, which may hold keys, nothing is needed.
    const worker = new Worker(script, { env: {} });
    const tasks: Task[] = [];
    held.set(worker, tasks);
    worker.on("message", (answer: PasswordAnswer) => {
      const task = tasks.shift();
      if (tasks.length === 0) worker.unref();
      if ("result" in answer) task?.resolve(answer.result);
      else task?.reject(failed(answer.error));
      next();
    });
    const gone = (cause: unknown) => {
      if (!held.delete(worker)) return;
      const [atWork, ...others] = tasks;
      atWork?.reject(failed(cause));
      waiting.unshift(...others);
      next();
    };
    worker.on("error", gone);
    worker.on("exit", gone);
    return worker;
  }

  /** The thread that has least to do; a new one rather than one that is at work. */
  function vacant(): Worker | undefined {
    const [least] = [...held].toSorted(([, a], [, b]) => a.length - b.length);
    if (least === undefined || (least[1].length > 0 && held.size < size.threads)) return start();
    return least[1].length < mostHeld ? least[0] : undefined;
  }

  const waitingInAll = () =>
    [...held.values()].reduce((sum, tasks) => sum + Math.max(0, tasks.length - 1), waiting.length);

  function next(): void {
    while (waiting.length > 0) {
      const worker = vacant();
      const task = worker && waiting.shift();
      if (worker === undefined || task === undefined) return;
      held.get(worker)?.push(task);
      worker.ref();
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window: it has no origin.
      worker.postMessage(task.work);
    }
  }

  return {
    run: <W extends PasswordWork>(work: W) =>
      new Promise<ResultOf<W>>((resolve, reject) => {
        if (waitingInAll() >= size.mostWaiting) {
          const text = "too many passwords are being checked: try again";
          return reject(unavailable("PASSWORD_HASHING_BUSY", text, { retryAfterSeconds }));
        }
        // The one cast: a thread answers an operation with the result of its type.
        waiting.push({ work, resolve: resolve as Task["resolve"], reject });
        next();
      }),
    async [Symbol.asyncDispose]() {
      for (const { reject } of waiting.splice(0)) reject(failed("the pool is closed"));
      await Promise.all([...held.keys()].map((worker) => worker.terminate()));
    },
  };
}

/** The threads of this process. */
export const passwordPool = createPasswordPool();

function failed(cause: unknown) {
  return internal("PASSWORD_HASHING_FAILED", "a password could not be hashed", { cause });
}
