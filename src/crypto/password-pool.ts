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

/**
 * Threads that do nothing but hash (faults F22): neither the event loop nor libuv's threads, which also serve files,
 * ever wait for a password. They are started when first needed and keep no process alive.
 */
export function createPasswordPool(size = usualSize, script = workerFile): PasswordPool {
  const idle: Worker[] = [];
  const atWork = new Map<Worker, Task>();
  const waiting: Task[] = [];

  function start(): Worker {
    // Of the environment, which may hold keys, nothing is needed.
    const worker = new Worker(script, { env: {} });
    worker.on("message", (answer: PasswordAnswer) => {
      const task = atWork.get(worker);
      atWork.delete(worker);
      idle.push(worker);
      worker.unref();
      if ("result" in answer) task?.resolve(answer.result);
      else task?.reject(failed(answer.error));
      next();
    });
    const gone = (cause: unknown) => {
      const task = atWork.get(worker);
      atWork.delete(worker);
      if (idle.includes(worker)) idle.splice(idle.indexOf(worker), 1);
      task?.reject(failed(cause));
      next();
    };
    worker.on("error", gone);
    worker.on("exit", gone);
    return worker;
  }

  function next(): void {
    if (waiting.length === 0 || (idle.length === 0 && atWork.size >= size.threads)) return;
    const task = waiting.shift();
    if (task === undefined) return;
    const worker = idle.pop() ?? start();
    atWork.set(worker, task);
    worker.ref();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window: it has no origin.
    worker.postMessage(task.work);
  }

  return {
    run: <W extends PasswordWork>(work: W) =>
      new Promise<ResultOf<W>>((resolve, reject) => {
        if (waiting.length >= size.mostWaiting) {
          const text = "too many passwords are being checked: try again";
          return reject(unavailable("PASSWORD_HASHING_BUSY", text, { retryAfterSeconds }));
        }
        // The one cast: a thread answers an operation with the result of its type.
        waiting.push({ work, resolve: resolve as Task["resolve"], reject });
        next();
      }),
    async [Symbol.asyncDispose]() {
      for (const { reject } of waiting.splice(0)) reject(failed("the pool is closed"));
      await Promise.all([...idle, ...atWork.keys()].map((worker) => worker.terminate()));
    },
  };
}

/** The threads of this process. */
export const passwordPool = createPasswordPool();

function failed(cause: unknown) {
  return internal("PASSWORD_HASHING_FAILED", "a password could not be hashed", { cause });
}
